#pragma once
// Where a rank finds no room: whether what dead engines left makes some. The look asks their stores, which may take
// long to answer, so that a thread does it; everything else is the event loop's.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/guarded.hpp"
#include "engine/serve/background.hpp"

namespace perdure::engine {

/// What a look found.
struct RoomFound {
  std::string lacking;  ///< what dead engines left and their stores lack; empty: nothing
};
/// Gives up what the stores have. `stop`: asked in between; true: the engine ends.
using LookForRoom = std::function<RoomFound(const std::function<bool()>& stop)>;

struct LookState {
  bool looking = false;
  std::uint64_t begun_ns = 0;                  ///< the last look
  std::optional<std::uint64_t> ended_ns = {};  ///< nothing: none has ended yet
};
enum class LookWanted {
  room,  ///< there is none: who wants it would be refused
  more   ///< there is some, or some will come, but not at once or not on the first tier
};
struct LookChoice {
  bool begin = false;
  bool wait = false;  ///< who wants room is not refused yet
  friend bool operator==(const LookChoice&, const LookChoice&) = default;
};
/// Pure. One look gives up all that it may, so that the next one is of use only after a while. Nobody waits for a look
/// that takes longer than any store should.
LookChoice choose_look(const LookState& state, LookWanted wanted, std::uint64_t now_ns);

class RoomLook {
 public:
  /// `look` empty: nobody looks.
  RoomLook(LookForRoom look, Background& background) : look_(std::move(look)), background_(background) {}
  /// True: a look is under way that is to be waited for. Its end wakes the event loop.
  bool wants(LookWanted wanted);
  /// A look that is to be waited for would begin, or is under way.
  bool may_find_room() const;
  /// The error of who was refused, with what the last look found.
  base::Error explained(base::Error error) const;
  void stop() { shared_->stopping = true; }

 private:
  struct Shared {
    std::atomic<bool> stopping = false;
    struct Outcome {
      RoomFound found;
      LookState state;
    };
    base::Guarded<Outcome> outcome;
  };
  bool begin();

  LookForRoom look_;
  Background& background_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace perdure::engine
