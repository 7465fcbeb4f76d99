#include "engine/serve/room_look.hpp"

#include "os/system.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kAgain_ns = 5'000'000'000, kAgainForMore_ns = 60'000'000'000, kPatience_ns = 10'000'000'000;

}  // namespace

LookChoice choose_look(const LookState& state, LookWanted wanted, std::uint64_t now_ns) {
  const bool wait = wanted == LookWanted::room;
  if (state.looking) return {false, wait && now_ns - state.begun_ns < kPatience_ns};
  const std::uint64_t again_ns = wait ? kAgain_ns : kAgainForMore_ns;
  if (state.ended_ns && now_ns - *state.ended_ns < again_ns) return {};
  return {true, wait};
}

bool RoomLook::wants(LookWanted wanted) {
  if (!look_ || shared_->stopping) return false;
  const std::uint64_t now = os::monotonic_ns();
  LookChoice choice;
  {
    const auto outcome = shared_->outcome.lock();
    choice = choose_look(outcome->state, wanted, now);
    if (choice.begin) outcome->state = {true, now, outcome->state.ended_ns};
  }
  if (choice.begin && !begin()) return false;
  return choice.wait;
}

bool RoomLook::may_find_room() const {
  if (!look_ || shared_->stopping) return false;
  const auto outcome = shared_->outcome.lock();
  return choose_look(outcome->state, LookWanted::room, os::monotonic_ns()).wait;
}

// An exception, or a lack of threads, ends the look. The waiting request is then answered as if there were no residue.
bool RoomLook::begin() {
  const auto ended = [shared = shared_](RoomFound found) {
    const auto outcome = shared->outcome.lock();
    outcome->found = std::move(found);
    outcome->state.looking = false;
    outcome->state.ended_ns = os::monotonic_ns();
  };
  const auto started = background_.start(
      [ended, look = look_, shared = shared_] { ended(look([shared] { return shared->stopping.load(); })); },
      [ended](const base::Error&) { ended({}); });
  if (!started) ended({});
  return started.has_value();
}

base::Error RoomLook::explained(base::Error error) const {
  if (error.code != PERDURE_NO_SPACE) return error;
  const auto outcome = shared_->outcome.lock();
  if (outcome->found.lacking.empty()) return error;
  error.cause += "; " + outcome->found.lacking;
  error.remedy +=
      (error.remedy.empty() ? "" : ", or ") + std::string("see what nobody needs any more: perdure prune --node");
  return error;
}

}  // namespace perdure::engine
