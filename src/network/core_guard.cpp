// Runs on the clock's thread: repetitions, and the connection guard. A peer that says anything is alive. Only a peer
// that was silent for a whole interval is pinged, so the guard costs a busy connection nothing.
#include <algorithm>

#include "network/endpoint_core.hpp"

namespace perdure::network {
namespace {

constexpr unsigned kStrikes = 4;  // a connection may break once; a dead process takes few of many pings

}  // namespace

CallEnds EndpointCore::take_lost_calls() {
  const auto calls = for_clock_.lost_calls.lock();
  return calls->take();
}

std::uint64_t EndpointCore::tick(std::uint64_t now_ns) {
  std::uint64_t next = Clock::kNever;
  {
    const std::lock_guard lock(mutex_);
    next = handshakes_.tick(now_ns);
  }
  const std::vector<PeerPointer> all = peers();
  CallEnds ended = take_lost_calls();
  // Exceptions mean refused memory: the work is repeated later, and ended calls are told all the same.
  for (const PeerPointer& peer : all) {
    const std::lock_guard lock(peer->mutex);
    if (peer->lost) continue;
    std::uint64_t again = now_ns + options_.retry_ns;
    base::attempt([&] {
      Outbox out;
      std::uint64_t repeated = 0;
      again = peer->calls.tick(now_ns, out, repeated);
      peer->counters.retransmissions += repeated;
      send_all(*peer, out);
    });
    next = std::min(next, again);
    ended.add(peer->calls.take_ended());
  }
  tell(std::move(ended));
  for (const PeerPointer& peer : all) next = std::min(next, suspect(peer, now_ns));
  if (options_.guard_interval_ns == 0 || all.empty()) return next;
  if (now_ns >= for_clock_.next_guard_ns) {
    for_clock_.next_guard_ns = now_ns + options_.guard_interval_ns;
    for (const PeerPointer& peer : all) guard(peer);
  }
  return std::min(next, for_clock_.next_guard_ns);
}

/// Counts intervals instead of time, because a process that was stopped has not been listening meanwhile.
void EndpointCore::guard(const PeerPointer& peer) {
  if (peer->heard.exchange(false, std::memory_order_relaxed)) {
    peer->silent = 0;
    return;
  }
  const std::uint64_t limit = std::max<std::uint64_t>(2, options_.guard_limit_ns / options_.guard_interval_ns);
  if (++peer->silent >= limit)
    return lose(
        peer,
        {PERDURE_PEER_FAILED, peer->name,
         "nothing was heard of it for " + std::to_string(limit * options_.guard_interval_ns / 1'000'000) + " ms",
         "see whether its node runs and can be reached; network.guard.* say how long we wait", true},
        true);
  ++peer->counters.pings;
  send(*peer, Ping{});
}

/// If the wire could not send to the peer, finds out at once whether it is there.
std::uint64_t EndpointCore::suspect(const PeerPointer& peer, std::uint64_t now_ns) {
  if (!peer->suspected) {
    peer->strikes = 0;
    return Clock::kNever;
  }
  if (now_ns < peer->next_look_ns) return peer->next_look_ns;
  if (peer->failed.exchange(false)) ++peer->strikes;
  if (peer->strikes >= kStrikes) {
    lose(peer,
         {PERDURE_PEER_FAILED, peer->name, "its process is gone: nobody takes messages at its address",
          "see that engine's node", true},
         true);
    return Clock::kNever;
  }
  ++peer->counters.pings;
  send(*peer, Ping{});
  peer->next_look_ns = now_ns + options_.retry_ns / 2;
  return peer->next_look_ns;
}

}  // namespace perdure::network
