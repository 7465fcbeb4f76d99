#pragma once
// Defines the interface through which something follows a program's loops, to checkpoint the program and to restart it.
#include <cstddef>
#include <span>
#include <string_view>

#include "track/access.hpp"

namespace perdure::automatic {

class Follower {
 public:
  virtual ~Follower() = default;
  /// Call it before each loop. Returns whether the loop is to be run. `between`: no reduction is open; a run can only
  /// continue from such a point.
  virtual bool loop(track::LoopId id, std::string_view name, std::span<const track::Access> accesses, bool between) = 0;
  /// Returns whether the next answer is recorded, so that no rank need compute it.
  virtual bool knows_answer() const = 0;
  /// Call it for values that loops return to the program: records them, or replaces them by the recorded ones.
  virtual void answer(std::span<std::byte> values) = 0;
  /// Whether this rank wants a checkpoint; and the notice that some rank does.
  virtual bool wants_checkpoint() = 0;
  virtual void checkpoint_is_wanted() = 0;
};

}  // namespace perdure::automatic
