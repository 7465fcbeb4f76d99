// Connects peers, and loses them.
#include <chrono>

#include "network/endpoint_core.hpp"
#include "os/system.hpp"

namespace perdure::network {

base::Error EndpointCore::connect_failure(const Address& remote, bool refused) const {
  if (visits_.closing()) return {PERDURE_CLOSED, "network", "this engine's endpoint was closed", {}, false};
  if (refused)
    return {PERDURE_PEER_FAILED, remote.text(), "another engine runs at this address now", "exchange addresses again",
            false};
  return {PERDURE_TIMEOUT, remote.text(), "nobody there proved the job key in time",
          "see that the engine runs, belongs to this job, and that the network lets us through", true};
}

base::Result<PeerId> EndpointCore::connect(ConstByteSpan address, std::uint64_t timeout_ns) {
  const Visit visit(visits_);
  PERDURE_TRY(const Address remote, decode_address(address));
  if (remote.incarnation == self_.incarnation)
    return base::fail(PERDURE_INVALID_ARGUMENT, remote.text(), "an engine does not connect to itself");
  const std::uint64_t begin = os::monotonic_ns();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  std::unique_lock lock(mutex_);
  for (;;) {
    if (const auto peer = peers_.of_incarnation(remote.incarnation)) return peer->id;
    const bool refused = handshakes_.refused(remote.incarnation);
    if (visits_.closing() || refused || std::chrono::steady_clock::now() >= deadline) {
      // Others that wait for the same peer begin again.
      handshakes_.give_up(remote.incarnation);
      connections_changed_.notify_all();
      return base::fail(connect_failure(remote, refused));
    }
    PERDURE_CHECK(handshakes_.begin(remote, os::monotonic_ns(), begin + timeout_ns + options_.max_retry_ns));
    clock_.arm(begin + options_.retry_ns);
    connections_changed_.wait_until(lock, deadline);
  }
}

base::Status EndpointCore::introduce(ConstByteSpan address, std::uint64_t within_ns) {
  const Visit visit(visits_);
  PERDURE_TRY(const Address remote, decode_address(address));
  const std::uint64_t now = os::monotonic_ns();
  const std::lock_guard lock(mutex_);
  if (visits_.closing() || remote.incarnation == self_.incarnation || peers_.of_incarnation(remote.incarnation))
    return {};
  PERDURE_CHECK(handshakes_.begin(remote, now, now + within_ns));
  clock_.arm(now + options_.retry_ns);
  return {};
}

std::optional<PeerId> EndpointCore::peer_at(ConstByteSpan address) const {
  const auto remote = decode_address(address);
  if (!remote) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto peer = peers_.of_incarnation(remote->incarnation);
  return peer == nullptr ? std::nullopt : std::optional(peer->id);
}

// Leaving a group must not fail for lack of memory, which only the error's texts need.
void EndpointCore::disconnect(PeerId id) noexcept {
  const Visit visit(visits_);
  PeerPointer peer;
  {
    const std::lock_guard lock(mutex_);
    if (!visits_.closing()) peer = peers_.find(id);
  }
  if (!peer) return;
  base::Error why{PERDURE_CLOSED, {}, {}, {}, false};
  base::attempt([&] {
    why.object = peer->name;
    why.cause = "this engine disconnected from it";
  });
  lose(peer, why, false);
}

void EndpointCore::receive_introduction(const Body& body) {
  base::Result<std::optional<Established>> outcome;
  std::vector<PeerPointer> replaced;
  {
    const std::lock_guard lock(mutex_);
    if (visits_.closing() || answer_again(body)) return;
    outcome = handshakes_.on_message(body, os::monotonic_ns());
    // Under the same lock: a connecting thread sees the attempt or the session, never neither.
    if (outcome && outcome->has_value()) replaced = establish(std::move(**outcome));
  }
  if (!outcome) return received_.remember_unauthenticated(outcome.error());
  if (!std::holds_alternative<Refuse>(body) && !outcome->has_value()) return;
  connections_changed_.notify_all();
  if (options_.guard_interval_ns > 0) clock_.arm(os::monotonic_ns() + options_.guard_interval_ns);
  for (const PeerPointer& peer : replaced) {  // nobody else finds these any more
    base::Error why{PERDURE_PEER_FAILED, {}, {}, {}, true};
    base::attempt([&why, &of = *peer] {
      why.object = of.name;
      why.cause = "it was restarted, or had lost us and connected again";
      why.remedy = "connect again";
    });
    finish_loss(peer, why, true);
  }
}

/// Answers a message that a peer repeats although its session stands here.
bool EndpointCore::answer_again(const Body& body) {
  const auto* hello = std::get_if<Hello>(&body);
  const auto* proof = std::get_if<Proof>(&body);
  if (hello == nullptr && proof == nullptr) return false;
  const Nonce& nonce = hello != nullptr ? hello->nonce : proof->initiator;
  for (const PeerPointer& peer : peers_.all()) {
    if (peer->session.nonce != nonce || peer->session.ready.empty()) continue;
    if (proof != nullptr) (void)wire_->send(peer->session.wire, peer->session.ready);
    return true;
  }
  return false;
}

/// Adds the session; returns the peers at the same place, which it replaces.
std::vector<PeerPointer> EndpointCore::establish(Established session) {
  std::vector<PeerPointer> replaced;
  for (const PeerPointer& peer : peers_.all())
    if (peer->session.remote.wire == session.remote.wire) replaced.push_back(peer);
  for (const PeerPointer& peer : replaced) peers_.remove(*peer);
  peers_.add(std::move(session));
  return replaced;
}

void EndpointCore::lose(const PeerPointer& peer, const base::Error& why, bool tell) {
  {
    const std::lock_guard lock(mutex_);
    if (!peers_.remove(*peer)) return;
  }
  finish_loss(peer, why, tell);
}

// The peer is out of the table, so nobody else finishes it: each part is done even if another fails. The caller may
// hold locks that the receivers of outcomes need: the clock's thread tells them.
void EndpointCore::finish_loss(const PeerPointer& peer, const base::Error& why, bool tell) noexcept {
  CallEnds ended;
  {
    const std::lock_guard lock(peer->mutex);
    peer->lost = base::copy_or_code(why);
    peer->calls.fail_all(why);
    ended.add(peer->calls.take_ended());
    // So a peer that was only cut off in one direction need not wait for its guard.
    base::attempt([&] { send(*peer, Goodbye{}); });
  }
  if (!ended.empty()) {
    {
      const auto calls = for_clock_.lost_calls.lock();
      calls->add(std::move(ended));
    }
    clock_.arm(0);
  }
  peer->room.notify_all();
  base::attempt([&] { wire_->forget(peer->session.wire); });
  views_.forget(peer->id);
  if (tell && handlers_.on_lost)
    base::attempt([&] { pool_.post([this, id = peer->id, why] { handlers_.on_lost(id, why); }); });
}

}  // namespace perdure::network
