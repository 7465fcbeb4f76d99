#pragma once
// Who follows the loops of a program, to make checkpoints of it and to begin it again: the seam between them.
#include <cstddef>
#include <span>
#include <string_view>

#include "track/access.hpp"

namespace perdure::automatic {

class Follower {
 public:
  virtual ~Follower() = default;
  /// Before each loop: whether it is to be run. `between`: no loop has added to what was not collected yet; a run can
  /// only go on from there.
  virtual bool loop(track::LoopId id, std::string_view name, std::span<const track::Access> accesses, bool between) = 0;
  /// Whether the next answer is known, so that nobody need compute it.
  virtual bool knows_answer() const = 0;
  /// What leaves the loops for the program: is kept, or replaced by what was kept.
  virtual void answer(std::span<std::byte> values) = 0;
  /// Whether this rank wants a checkpoint, and that some rank does.
  virtual bool wants_checkpoint() = 0;
  virtual void checkpoint_is_wanted() = 0;
};

}  // namespace perdure::automatic
