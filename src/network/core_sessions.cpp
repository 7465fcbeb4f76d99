// Connecting, and how a peer gets lost.
#include <chrono>

#include "network/endpoint_core.hpp"
#include "os/system.hpp"

namespace perdure::network {

base::Error EndpointCore::connect_failure(const Address& remote, bool refused) const {
  if (closing_) return {PERDURE_CLOSED, "network", "this engine's endpoint was closed", {}, false};
  if (refused)
    return {PERDURE_PEER_FAILED, remote.text(), "another engine runs at this address now", "exchange addresses again",
            false};
  return {PERDURE_TIMEOUT, remote.text(), "nobody there proved the job key in time",
          "see that the engine runs, belongs to this job, and that the network lets us through", true};
}

base::Result<PeerId> EndpointCore::connect(ConstByteSpan address, std::uint64_t timeout_ns) {
  const Visit visit(*this);
  PERDURE_TRY(const Address remote, decode_address(address));
  if (remote.incarnation == self_.incarnation)
    return base::fail(PERDURE_INVALID_ARGUMENT, remote.text(), "an engine does not connect to itself");
  const std::uint64_t begin = os::monotonic_ns();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  std::unique_lock lock(mutex_);
  for (;;) {
    if (const auto it = by_incarnation_.find(remote.incarnation); it != by_incarnation_.end()) return it->second->id;
    const bool refused = introductions_.refused(remote.incarnation);
    if (closing_ || refused || std::chrono::steady_clock::now() >= deadline) {
      // Others who wait for the same peer begin again.
      introductions_.give_up(remote.incarnation);
      connections_changed_.notify_all();
      return base::fail(connect_failure(remote, refused));
    }
    PERDURE_CHECK(introductions_.begin(remote, os::monotonic_ns(), begin + timeout_ns + options_.max_retry_ns));
    clock_.arm(begin + options_.retry_ns);
    connections_changed_.wait_until(lock, deadline);
  }
}

base::Status EndpointCore::introduce(ConstByteSpan address, std::uint64_t within_ns) {
  const Visit visit(*this);
  PERDURE_TRY(const Address remote, decode_address(address));
  const std::uint64_t now = os::monotonic_ns();
  const std::lock_guard lock(mutex_);
  if (closing_ || remote.incarnation == self_.incarnation || by_incarnation_.contains(remote.incarnation)) return {};
  PERDURE_CHECK(introductions_.begin(remote, now, now + within_ns));
  clock_.arm(now + options_.retry_ns);
  return {};
}

void EndpointCore::disconnect(PeerId id) {
  const Visit visit(*this);
  if (const auto peer = find(id))
    lose(*peer, {PERDURE_CLOSED, (*peer)->name, "this engine disconnected from it", {}, false}, false);
}

void EndpointCore::receive_introduction(const Body& body) {
  base::Result<std::optional<Established>> outcome;
  std::vector<PeerPointer> replaced;
  {
    const std::lock_guard lock(mutex_);
    if (closing_ || answer_again(body)) return;
    outcome = introductions_.on_message(body, os::monotonic_ns());
    // Under the same lock: who wants to connect sees the attempt or the session, never neither.
    if (outcome && outcome->has_value()) replaced = establish(std::move(**outcome));
  }
  if (!outcome) return remember_stranger(outcome.error());
  if (!std::holds_alternative<Refuse>(body) && !outcome->has_value()) return;
  connections_changed_.notify_all();
  if (options_.guard_interval_ns > 0) clock_.arm(os::monotonic_ns() + options_.guard_interval_ns);
  for (const PeerPointer& peer : replaced)
    finish_loss(peer,
                {PERDURE_PEER_FAILED, peer->name, "it was restarted, or had lost us and connected again",
                 "connect again", true},
                true);
}

/// What a peer repeats whose session stands here already.
bool EndpointCore::answer_again(const Body& body) {
  const auto* hello = std::get_if<Hello>(&body);
  const auto* proof = std::get_if<Proof>(&body);
  if (hello == nullptr && proof == nullptr) return false;
  const Nonce& nonce = hello != nullptr ? hello->nonce : proof->initiator;
  for (const auto& [id, peer] : peers_) {
    if (peer->session.nonce != nonce || peer->session.ready.empty()) continue;
    if (proof != nullptr) (void)wire_->send(peer->session.wire, peer->session.ready);
    return true;
  }
  return false;
}

/// Gives the peers that this session replaces: those at the same place.
std::vector<PeerPointer> EndpointCore::establish(Established session) {
  std::vector<PeerPointer> replaced;
  for (const auto& [id, peer] : peers_)
    if (peer->session.remote.wire == session.remote.wire) replaced.push_back(peer);
  for (const PeerPointer& peer : replaced) take_out(*peer);
  const auto peer = std::make_shared<Peer>(next_peer_++, std::move(session), limits_);
  peers_[peer->id] = peer;
  by_session_[peer->session.expects] = peer;
  by_incarnation_[peer->session.remote.incarnation] = peer;
  return replaced;
}

bool EndpointCore::take_out(const Peer& peer) {
  const auto it = peers_.find(peer.id);
  if (it == peers_.end()) return false;
  by_session_.erase(peer.session.expects);
  by_incarnation_.erase(peer.session.remote.incarnation);
  peers_.erase(it);
  return true;
}

void EndpointCore::lose(const PeerPointer& peer, const base::Error& why, bool tell) {
  {
    const std::lock_guard lock(mutex_);
    if (!take_out(*peer)) return;
  }
  finish_loss(peer, why, tell);
}

void EndpointCore::finish_loss(const PeerPointer& peer, const base::Error& why, bool tell) {
  {
    const std::lock_guard lock(peer->mutex);
    peer->lost = why;
    peer->calls.fail_all(why);
    send(*peer, Goodbye{});  // a peer that was only cut off in one direction need not wait for its guard
  }
  peer->room.notify_all();
  wire_->forget(peer->session.wire);
  views_.forget(peer->id);
  if (tell && handlers_.on_lost) pool_.post([this, id = peer->id, why] { handlers_.on_lost(id, why); });
}

}  // namespace perdure::network
