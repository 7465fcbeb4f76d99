#include "network/calls.hpp"

#include <algorithm>

#include "network/reply_codec.hpp"

namespace perdure::network {

bool CallTable::has_room(std::size_t request_bytes) const {
  return calls_.size() < limits_.calls && (calls_.empty() || bytes_ + request_bytes <= limits_.bytes);
}

void CallTable::restart_timer(Call& call, std::uint64_t now_ns) const {
  call.pause_ns = limits_.retry_ns;
  call.next_ns = now_ns + call.pause_ns;
}

std::shared_ptr<Call> CallTable::begin(Bytes request, std::uint64_t now_ns, Outbox& out,
                                       std::unique_ptr<CallEnd> end_of_call) {
  std::uint16_t slot = 0;
  while (calls_.contains(slot)) ++slot;  // the lowest: few slots keep replies at the other side
  if (slot >= sequences_.size()) sequences_.resize(slot + 1U);
  auto call = std::make_shared<Call>(CallId{slot, sequences_[slot] + 1}, std::move(request), limits_.fragment_bytes);
  call->end_of_call = std::move(end_of_call);
  restart_timer(*call, now_ns);
  for (const std::uint32_t index : call->request.take_new())
    out.push_back(call->request.fragment(call->id, false, index));
  calls_[slot] = call;  // the last step for which memory may be refused: nothing has begun then
  ++sequences_[slot];
  bytes_ += call->request.bytes();
  return call;
}

void CallTable::remove(const Call& call) {
  bytes_ -= call.request.bytes();
  calls_.erase(call.id.slot);
}

void CallTable::leave(const std::shared_ptr<Call>& call) {
  // A slot whose request may still run at the peer is not reused before it has ended there.
  if (!call->done) call->abandoned = true;
}

std::shared_ptr<Call> CallTable::find(CallId id) const {
  const auto it = calls_.find(id.slot);
  return it != calls_.end() && it->second->id == id ? it->second : nullptr;
}

void CallTable::finish(const std::shared_ptr<Call>& call, base::Result<Bytes> outcome) {
  remove(*call);
  call->done = true;
  if (call->end_of_call) return tell(*call, std::move(outcome));
  call->outcome = std::move(outcome);
  call->changed.notify_all();
}

void CallTable::tell(Call& call, base::Result<Bytes> outcome) {
  call.end_of_call->outcome = std::move(outcome);
  ended_.add(std::move(call.end_of_call));
}

void CallTable::on_ack(const Ack& ack, std::uint64_t now_ns, Outbox& out) {
  const auto call = find(ack.call);
  if (call == nullptr || ack.reply || !call->request.acknowledge(ack.first_missing, ack.later)) return;
  restart_timer(*call, now_ns);
  for (const std::uint32_t index : call->request.take_new())
    out.push_back(call->request.fragment(call->id, false, index));
}

void CallTable::on_reply(const Fragment& fragment, std::uint64_t now_ns, Outbox& out) {
  const auto call = find(fragment.call);
  if (call == nullptr) {
    // Our last acknowledgement got lost: repeats that all is here, unless the slot has gone on.
    const std::uint16_t slot = fragment.call.slot;
    if (slot < sequences_.size() && sequences_[slot] == fragment.call.sequence)
      out.push_back(Ack{fragment.call, true, false, ~std::uint32_t{0}, 0});
    return;
  }
  if (!call->reply) {
    auto incoming = Incoming::make(fragment, limits_.max_message_bytes);
    if (!incoming) return finish(call, base::fail(incoming.error()));
    call->reply = std::move(*incoming);
    call->request.acknowledge(~std::uint32_t{0}, 0);
  }
  if (call->reply->add(fragment) != Incoming::Added::fresh) return;
  restart_timer(*call, now_ns);
  if (call->reply->due_for_ack()) out.push_back(call->reply->state(call->id, true));
  if (call->reply->complete()) finish(call, decode_reply(call->reply->take()));
}

std::uint64_t CallTable::tick(std::uint64_t now_ns, Outbox& out, std::uint64_t& repeated) {
  std::uint64_t next = ~std::uint64_t{0};
  for (const auto& [slot, call] : calls_) {
    if (call->next_ns <= now_ns) {
      if (call->request.complete()) {
        Ack probe = call->reply ? call->reply->state(call->id, true) : Ack{call->id, true, false, 0, 0};
        probe.probe = true;
        out.push_back(probe);
        ++repeated;
      } else {
        for (const std::uint32_t index : call->request.unacknowledged()) {
          out.push_back(call->request.fragment(call->id, false, index));
          ++repeated;
        }
      }
      call->pause_ns = std::min(2 * call->pause_ns, limits_.max_retry_ns);
      call->next_ns = now_ns + call->pause_ns;
    }
    next = std::min(next, call->next_ns);
    if (call->end_of_call == nullptr) continue;
    if (call->end_of_call->deadline_ns <= now_ns) {
      call->abandoned = true;
      tell(*call, base::fail(PERDURE_TIMEOUT, "network", "it did not answer in time",
                             "allow more time, or see what that engine does", true));
    } else {
      next = std::min(next, call->end_of_call->deadline_ns);
    }
  }
  return next;
}

void CallTable::fail_all(const base::Error& error) {
  while (!calls_.empty()) finish(std::shared_ptr<Call>(calls_.begin()->second), base::fail(base::copy_or_code(error)));
}

}  // namespace perdure::network
