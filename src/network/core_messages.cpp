// Handles messages from the wire.
#include "network/byte_reader.hpp"
#include "network/endpoint_core.hpp"
#include "os/system.hpp"

namespace perdure::network {

void EndpointCore::on_message(ConstByteSpan bytes) {
  received_.messages.fetch_add(1, std::memory_order_relaxed);
  const auto message = decode_message(bytes);
  if (!message) return count_malformed(bytes);
  if (message->session == 0) return receive_introduction(message->body);
  PeerPointer peer;
  {
    const std::lock_guard lock(mutex_);
    peer = peers_.of_session(message->session);
  }
  if (peer == nullptr) {
    ++received_.dropped;  // of a session that is over, or of none
    return;
  }
  peer->heard.store(true, std::memory_order_relaxed);
  if (peer->suspected.load(std::memory_order_relaxed)) peer->suspected = false;
  peer->counters.messages_received.fetch_add(1, std::memory_order_relaxed);
  peer->counters.bytes_received.fetch_add(bytes.size(), std::memory_order_relaxed);
  receive(peer, message->body);
}

/// Counts damaged messages for the peer whose session they name, if they still do.
void EndpointCore::count_malformed(ConstByteSpan bytes) {
  ++received_.dropped;
  ByteReader in(bytes);
  (void)in.array<16>();
  const auto session = in.number<std::uint64_t>();
  const std::lock_guard lock(mutex_);
  if (!in.good()) return;
  if (const auto peer = peers_.of_session(session)) ++peer->counters.dropped;
}

void EndpointCore::receive(const PeerPointer& peer, const Body& body) {
  if (const auto* fragment = std::get_if<Fragment>(&body)) return receive_fragment(peer, *fragment);
  if (const auto* ack = std::get_if<Ack>(&body)) {
    Outbox out;
    const std::lock_guard lock(peer->mutex);
    if (peer->lost) return;
    peer->calls.on_ack(*ack, os::monotonic_ns(), out);
    peer->served.on_ack(*ack, out);
    send_all(*peer, out);
  } else if (std::holds_alternative<Ping>(body)) {
    send(*peer, Pong{});
  } else if (const auto* withdrawn = std::get_if<Withdrawn>(&body)) {
    views_.forget(peer->id, withdrawn->key);
  } else if (std::holds_alternative<Goodbye>(body)) {
    lose(peer, {PERDURE_PEER_FAILED, peer->name, "it ended, or had lost us", "connect again if it is there", true},
         true);
  } else if (!std::holds_alternative<Pong>(body)) {
    ++peer->counters.dropped;  // introductions have no place in a session
  }
}

void EndpointCore::receive_fragment(const PeerPointer& peer, const Fragment& fragment) {
  Outbox out;
  std::optional<Bytes> request;
  CallEnds ended;
  {
    const std::lock_guard lock(peer->mutex);
    if (peer->lost) return;
    const std::size_t under_way = peer->calls.under_way();
    if (fragment.reply)
      peer->calls.on_reply(fragment, os::monotonic_ns(), out);
    else
      request = peer->served.on_request(fragment, out);
    send_all(*peer, out);
    ended.add(peer->calls.take_ended());
    if (peer->calls.under_way() < under_way) peer->room.notify_all();
  }
  tell(std::move(ended));
  if (!request) return;
  const bool brief = fragment.total <= fragment.fragment_bytes && handlers_.is_brief && handlers_.is_brief(*request);
  if (brief) return serve(peer, fragment.call, *request);
  pool_.post([this, peer, id = fragment.call, whole = std::move(*request)] { serve(peer, id, whole); });
}

void EndpointCore::on_transfer(std::uint64_t token, base::Status status) {
  const std::shared_ptr<Transfer> transfer = transfers_.take(token);
  if (transfer == nullptr) return;
  {
    const std::lock_guard lock(transfer->peer->mutex);
    transfer->status = std::move(status);
    transfer->done = true;
    --transfer->peer->transfers;
  }
  transfer->peer->heard.store(true, std::memory_order_relaxed);
  transfer->peer->room.notify_all();
}

void EndpointCore::on_send_failed(WirePeer wire, const base::Error&) {
  for (const PeerPointer& peer : peers()) {
    if (peer->session.wire != wire) continue;
    peer->failed = true;
    peer->suspected = true;
    clock_.arm(os::monotonic_ns());
  }
}

}  // namespace perdure::network
