// Handles requests about guests: chunks that are here for a restore, and not held.
#include "engine/peers/node_group.hpp"
#include "engine/serve/handlers.hpp"
#include "engine/serve/reply_parts.hpp"

namespace perdure::engine {
namespace {

using ipc::Done;

std::optional<base::Result<ipc::RecoveredGuests>> answer_recover_guests(ServeContext& context, const Asked& asked,
                                                                        const ipc::RecoverGuests& bring) {
  if (context.options.group == nullptr) return base::fail(no_network(bring.id.text()));
  auto result = context.options.group->recover(asked.client, bring);
  if (result && *result) {
    const auto ledger = context.ledger.lock();
    ledger->counters().fetched_bytes += (*result)->bytes_moved;
    ledger->counters().rebuilt_bytes += (*result)->bytes_rebuilt;
  }
  return result;
}

WaitReason why_recover_guests(NodeState&, const Queued&, const ipc::RecoverGuests& bring) {
  return {"recovery", "chunks of " + bring.id.text() + " are being fetched or rebuilt"};
}

// It evicts only versions that the store has. A client that finds no room here can read the store itself.
base::Result<ipc::GuestSlot> grant_guest(ServeContext& context, ClientId client, const ipc::GrantGuest& take) {
  const auto ledger = context.ledger.lock();
  ledger->guests.admit(client);
  const ChunkName name{take.rank, take.chunk};
  if (ledger->guests.find(client, take.id, name) != nullptr)
    return base::fail(PERDURE_EXISTS, take.id.text(), "this client has brought that chunk already");
  PERDURE_TRY(const auto slot, ledger->room.take_for_redundancy(take.id, take.bytes, EvictionScope::stored));
  const auto expected = ledger->guests.expect(client, take.id, name, {slot.tier, slot.slot}, take.bytes);
  if (!expected) {
    ledger->room.give_back({slot.tier, slot.slot});
    return base::fail(expected.error());
  }
  return ipc::GuestSlot{address_in_message(slot)};
}

base::Result<Done> guest_written(ServeContext& context, ClientId client, const ipc::GuestWritten& filled) {
  const auto ledger = context.ledger.lock();
  return done(ledger->guests.fill(client, filled.id, {filled.rank, filled.chunk}, filled.length, filled.hash));
}

base::Result<ipc::GuestList> list_guests(ServeContext& context, ClientId, const ipc::ListGuests& find) {
  const auto ledger = context.ledger.lock();
  ipc::GuestList found;
  for (const auto& [name, guest] : ledger->guests.filled(find.id, {find.from.rank, find.from.chunk}))
    found.guests.push_back(ledger->guests.in_message(name, guest));
  const std::size_t told = ipc::fitting(found.guests);
  found.all = told == found.guests.size();
  found.guests.resize(told);
  return found;
}

// Requests that wait for room are asked again after this one was answered.
base::Result<Done> release_guests(ServeContext& context, ClientId client, const ipc::ReleaseGuests& back) {
  const auto ledger = context.ledger.lock();
  ledger->guests.go(client, back.id);
  return Done{};
}

std::optional<base::Result<ipc::PieceDescriptions>> answer_describe(ServeContext& context, const Asked& asked,
                                                                    const ipc::DescribePieces& describe) {
  if (context.options.group == nullptr) return base::fail(no_network(describe.id.text()));
  return context.options.group->recover(asked.client, describe);
}

WaitReason why_describe(NodeState&, const Queued&, const ipc::DescribePieces& describe) {
  return {"recovery", "other nodes are asked what they have of " + describe.id.text()};
}

}  // namespace

void enrol_guest_handlers(Handlers& handlers) {
  handlers.on(Waiter<ipc::RecoverGuests>{answer_recover_guests, why_recover_guests});
  handlers.on<ipc::GrantGuest>(grant_guest);
  handlers.on<ipc::GuestWritten>(guest_written);
  handlers.on<ipc::ListGuests>(list_guests);
  handlers.on<ipc::ReleaseGuests>(release_guests);
  handlers.on(Waiter<ipc::DescribePieces>{answer_describe, why_describe});
}

}  // namespace perdure::engine
