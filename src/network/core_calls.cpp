// Sends requests, and receives them.
#include <algorithm>
#include <chrono>

#include "network/endpoint_core.hpp"
#include "network/reply_codec.hpp"
#include "os/system.hpp"

namespace perdure::network {
namespace {

tl::unexpected<base::Error> no_answer(const Peer& peer, const char* cause) {
  return base::fail(PERDURE_TIMEOUT, peer.name, cause, "allow more time, or see what that engine does", true);
}

}  // namespace

base::Status EndpointCore::check_request(ConstByteSpan request) const {
  if (request.size() <= options_.max_message_bytes) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "request",
                    "it is longer than " + base::format_bytes(options_.max_message_bytes),
                    "expose long data and let the peer read it");
}

base::Status EndpointCore::begin_call(PeerId id, ConstByteSpan request, std::uint64_t timeout_ns,
                                      std::function<void(base::Result<Bytes>)> then) {
  const Visit visit(visits_);
  PERDURE_CHECK(check_request(request));
  PERDURE_TRY(const PeerPointer peer, find(id));
  const std::uint64_t now = os::monotonic_ns();
  auto end_of_call = std::make_unique<CallEnd>(CallEnd{std::move(then), now + timeout_ns});
  {
    Outbox out;
    const std::lock_guard lock(peer->mutex);
    if (peer->lost) return base::fail(*peer->lost);
    if (!peer->calls.has_room(request.size()))
      return base::fail(PERDURE_BUSY, peer->name, "earlier requests are not answered yet", {}, true);
    (void)peer->calls.begin(Bytes(request.begin(), request.end()), now, out, std::move(end_of_call));
    base::attempt([&] { send_all(*peer, out); });  // it has begun: unsent messages are repeated later
  }
  clock_.arm(now + std::min(options_.retry_ns, timeout_ns));
  return {};
}

// Nobody could handle an exception of it.
void EndpointCore::tell(CallEnds ended) {
  while (const auto one = ended.pop()) base::attempt([&one] { one->then(std::move(one->outcome)); });
}

base::Result<Bytes> EndpointCore::call(PeerId id, ConstByteSpan request, std::uint64_t timeout_ns) {
  const Visit visit(visits_);
  PERDURE_CHECK(check_request(request));
  PERDURE_TRY(const PeerPointer peer, find(id));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  std::unique_lock lock(peer->mutex);
  const auto may_go = [&] { return peer->lost.has_value() || peer->calls.has_room(request.size()); };
  if (!peer->room.wait_until(lock, deadline, may_go)) return no_answer(*peer, "earlier requests are not answered yet");
  if (peer->lost) return base::fail(*peer->lost);
  Outbox out;
  const std::uint64_t now = os::monotonic_ns();
  const auto call = peer->calls.begin(Bytes(request.begin(), request.end()), now, out);
  send_all(*peer, out);
  clock_.arm(now + options_.retry_ns);
  const bool done = call->changed.wait_until(lock, deadline, [&] { return call->done; });
  peer->calls.leave(call);
  if (!done) return no_answer(*peer, "it did not answer in time");
  return std::move(call->outcome);
}

void EndpointCore::serve(const PeerPointer& peer, CallId id, const Bytes& request) {
  base::Result<Bytes> outcome = base::fail(PERDURE_UNSUPPORTED, "engine", "it answers no requests");
  if (handlers_.serve) outcome = base::caught("engine", [&] { return handlers_.serve(peer->id, request); });
  if (outcome && outcome->size() > options_.max_message_bytes)
    outcome = base::fail(PERDURE_INVALID_ARGUMENT, "reply",
                         "it is longer than " + base::format_bytes(options_.max_message_bytes),
                         "expose long data and let the peer read it");
  Outbox out;
  const std::lock_guard lock(peer->mutex);
  if (peer->lost) return;
  peer->served.answer(id, encode_reply(outcome), out);
  send_all(*peer, out);
}

}  // namespace perdure::network
