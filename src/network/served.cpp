#include "network/served.hpp"

namespace perdure::network {

std::uint64_t ServedTable::bytes_coming() const {
  std::uint64_t bytes = 0;
  for (const auto& [number, slot] : slots_)
    if (slot.state == State::coming) bytes += slot.request->bytes();
  return bytes;
}

/// Accepts a new call in this slot if it is within the limits, and no handler runs for the slot. Callers keep their
/// slot until its reply is there.
bool ServedTable::accept(const Fragment& fragment, Slot& slot) {
  if (slot.state == State::running) return false;
  const std::uint64_t coming = bytes_coming();
  if (coming > 0 && coming + fragment.total > limits_.bytes) return false;
  auto incoming = Incoming::make(fragment, limits_.max_message_bytes);
  if (!incoming) return false;
  slot.sequence = fragment.call.sequence;
  slot.state = State::coming;
  slot.reply.reset();
  slot.request = std::move(*incoming);
  return true;
}

std::optional<Bytes> ServedTable::on_request(const Fragment& fragment, Outbox& out) {
  if (fragment.call.slot >= limits_.calls || fragment.call.sequence == 0) {
    ++refused_;
    return {};
  }
  Slot& slot = slots_[fragment.call.slot];
  if (fragment.call.sequence < slot.sequence) return {};  // late; its caller has its reply
  if (fragment.call.sequence > slot.sequence && !accept(fragment, slot)) {
    ++refused_;
    return {};
  }
  if (slot.state != State::coming) {
    // A late fragment of a long request must not resend the whole reply every time; its caller will probe.
    const bool single = fragment.total <= fragment.fragment_bytes;
    if (slot.state == State::replied && single) send_reply(fragment.call, slot, true, out);
    if (slot.state == State::running || (slot.state == State::replied && !single))
      out.push_back(Ack{fragment.call, false, false, ~std::uint32_t{0}, 0});
    return {};
  }
  const Incoming::Added added = slot.request->add(fragment);
  if (added == Incoming::Added::contradicts) ++refused_;
  if (added == Incoming::Added::known || (added == Incoming::Added::fresh && slot.request->due_for_ack()))
    out.push_back(slot.request->state(fragment.call, false));
  if (!slot.request->complete()) return {};
  slot.state = State::running;
  Bytes request = slot.request->take();
  slot.request.reset();
  return request;
}

void ServedTable::send_reply(CallId id, Slot& slot, bool again, Outbox& out) const {
  if (again)
    for (const std::uint32_t index : slot.reply->unacknowledged()) out.push_back(slot.reply->fragment(id, true, index));
  for (const std::uint32_t index : slot.reply->take_new()) out.push_back(slot.reply->fragment(id, true, index));
}

void ServedTable::answer(CallId id, Bytes reply, Outbox& out) {
  const auto it = slots_.find(id.slot);
  if (it == slots_.end() || it->second.sequence != id.sequence || it->second.state != State::running) return;
  it->second.state = State::replied;
  it->second.reply.emplace(std::move(reply), limits_.fragment_bytes);
  send_reply(id, it->second, false, out);
}

void ServedTable::on_ack(const Ack& ack, Outbox& out) {
  const auto it = slots_.find(ack.call.slot);
  if (it == slots_.end() || it->second.sequence != ack.call.sequence || !ack.reply) return;
  Slot& slot = it->second;
  if (slot.state == State::running && ack.probe) out.push_back(Ack{ack.call, false, false, ~std::uint32_t{0}, 0});
  if (slot.state != State::replied) return;
  slot.reply->acknowledge(ack.first_missing, ack.later);
  if (slot.reply->complete()) {
    slot.reply.reset();
    slot.state = State::finished;
    return;
  }
  send_reply(ack.call, slot, ack.probe, out);
}

}  // namespace perdure::network
