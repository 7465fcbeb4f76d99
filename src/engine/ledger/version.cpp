#include "engine/ledger/version.hpp"

#include <algorithm>
#include <numeric>

namespace perdure::engine {
namespace {

// Returns the life after the event; nullopt if the event cannot happen in this one.
std::optional<Life> next_life(Life life, VersionEvent event) {
  switch (event) {
    case VersionEvent::announce:
      return std::max(life, Life::announced);
    case VersionEvent::stage:
      return std::max(life, Life::staged);
    case VersionEvent::commit:
      return life == Life::staged ? std::optional(Life::delayed) : std::nullopt;
    case VersionEvent::record:
      return life == Life::delayed ? std::optional(Life::committed) : std::nullopt;
    case VersionEvent::add_segments:
      return life >= Life::committed ? std::optional(Life::committed) : std::nullopt;
    case VersionEvent::store:
      return life >= Life::committed ? std::optional(Life::stored) : std::nullopt;
    case VersionEvent::choose:
    case VersionEvent::capture_fails:
      return life == Life::none ? std::nullopt : std::optional(life);
    case VersionEvent::attempt:
    case VersionEvent::attempt_succeeds:
    case VersionEvent::attempt_fails:
    case VersionEvent::give_up:
    case VersionEvent::interrupt:
    case VersionEvent::try_again:
      return life >= Life::staged ? std::optional(life) : std::nullopt;
    case VersionEvent::own_flush_begins:
    case VersionEvent::own_flush_ends:
      return life;
    case VersionEvent::drop:
      return Life::none;
  }
  return std::nullopt;
}

FlushPhase next_phase(const VersionState& state, VersionEvent event) {
  switch (event) {
    case VersionEvent::commit:
      return state.by == FlushedBy::own_flush ? FlushPhase::running : FlushPhase::queued;
    case VersionEvent::attempt:
      return FlushPhase::running;
    case VersionEvent::attempt_fails:
      return FlushPhase::waiting;
    case VersionEvent::give_up:
      return FlushPhase::given_up;
    case VersionEvent::add_segments:
      return state.flush == FlushPhase::running ? FlushPhase::running : FlushPhase::queued;
    case VersionEvent::interrupt:
      return state.life == Life::committed ? FlushPhase::queued : state.flush;
    case VersionEvent::try_again:
      return state.flush == FlushPhase::given_up ? FlushPhase::queued : state.flush;
    case VersionEvent::attempt_succeeds:
    case VersionEvent::drop:
      return FlushPhase::queued;
    default:
      return state.flush;
  }
}

std::optional<FlushedBy> next_flusher(FlushedBy by, VersionEvent event) {
  switch (event) {
    case VersionEvent::choose:
      return by == FlushedBy::queue ? FlushedBy::chosen : by;
    case VersionEvent::own_flush_begins:
      return by == FlushedBy::chosen ? std::optional(FlushedBy::own_flush) : std::nullopt;
    case VersionEvent::own_flush_ends:
      return by == FlushedBy::own_flush ? std::optional(FlushedBy::queue) : std::nullopt;
    case VersionEvent::commit:
    case VersionEvent::capture_fails:
    case VersionEvent::drop:  // a running flush notices by itself
      return by == FlushedBy::chosen ? FlushedBy::queue : by;
    default:
      return by;
  }
}

}  // namespace

std::optional<VersionState> next(VersionState state, VersionEvent event) {
  const auto life = next_life(state.life, event);
  const auto by = next_flusher(state.by, event);
  if (!life || !by) return std::nullopt;
  return VersionState{*life, next_phase(state, event), *by};
}

std::uint64_t Version::slots_granted() const {
  return std::accumulate(granted.begin(), granted.end(), std::uint64_t{0});
}

std::uint64_t Version::chunks_flushed() const {
  std::uint64_t count = 0;
  for (const auto& [tier, slots] : flushed) count += slots.size();
  return count;
}

bool Version::over() const {
  return life == Life::none && by == FlushedBy::queue && slots_granted() == 0 && stored_epochs.empty() &&
         pinned_by.empty();
}

}  // namespace perdure::engine
