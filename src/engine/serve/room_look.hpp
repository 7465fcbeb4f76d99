#pragma once
// Looks for residue of dead engines when a rank finds no room. The look asks their stores, which may take long to
// answer, so a thread does it. All the rest belongs to the event loop.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/guarded.hpp"
#include "engine/serve/background.hpp"

namespace perdure::engine {

/// The result of a look.
struct RoomFound {
  std::string lacking;  ///< residue that its store lacks; empty: there is none
};
/// Reclaims residue that the stores have. It calls `stop` in between; true means that the engine ends.
using LookForRoom = std::function<RoomFound(const std::function<bool()>& stop)>;

struct LookState {
  bool looking = false;
  std::uint64_t begun_ns = 0;                  ///< of the last look
  std::optional<std::uint64_t> ended_ns = {};  ///< nullopt: none has ended yet
};
enum class LookWanted {
  room,  ///< there is none, so the request would be refused
  more   ///< there is some, or will be, but not at once or not on the first tier
};
struct LookChoice {
  bool begin = false;
  bool wait = false;  ///< the request is not refused yet
  friend bool operator==(const LookChoice&, const LookChoice&) = default;
};
/// Pure. One look reclaims all that it may, so the next one is useful only after a while. No request waits for a look
/// that takes longer than any store should.
LookChoice choose_look(const LookState& state, LookWanted wanted, std::uint64_t now_ns);

class RoomLook {
 public:
  /// `look` empty: no looks are made.
  RoomLook(LookForRoom look, Background& background) : look_(std::move(look)), background_(background) {}
  /// True if a look is under way that the request should wait for. Its end wakes the event loop.
  bool wants(LookWanted wanted);
  /// True if wants(LookWanted::room) would begin a look to wait for, or one is under way.
  bool may_find_room() const;
  /// Returns the error of a refused request, with the result of the last look added.
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
