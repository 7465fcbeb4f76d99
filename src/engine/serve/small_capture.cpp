// Handles a capture that comes in one message: it takes the steps of an ordinary capture in their order.
#include "engine/serve/capture_steps.hpp"
#include "engine/serve/handlers.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {
namespace {

base::Error refused(const ipc::SmallCapture& message, const std::string& why) {
  return {PERDURE_INVALID_ARGUMENT, message.begin.id.text(), why, "", false};
}

void arrived(ServeContext& context, ClientId client, const ipc::SmallCapture& message) {
  begin_capture(context, client, message.begin);
}

// The loop must not wait for a disk, nor for a tier's own access. The rank has to write such a slot itself.
base::Status fill(tier::SlotIo& io, const tier::SlotAddress& slot, const ipc::SmallCapture& message) {
  if (!slot.mapped || !slot.access.empty()) return base::fail(refused(message, "its tier is no memory"));
  base::Hasher hasher;
  PERDURE_CHECK(io.prepare(slot, message.bytes.size()));
  PERDURE_TRY(auto memory, io.fill(slot, message.bytes.size(), hasher));
  PERDURE_CHECK(memory.append(message.bytes));
  PERDURE_CHECK(memory.finish());
  return hasher.digest() == message.begin.piece.chunks[0].hash
             ? base::Status()
             : base::Status(base::fail(refused(message, "its bytes are not those of its hash")));
}

// The rank finds an error of the slot, too, and reports it.
base::Result<ipc::Placed> place(ServeContext& context, ClientId client, const ipc::SmallCapture& message,
                                const ipc::SlotAddress& slot) {
  const tier::SlotAddress address{slot.tier,     slot.slot,   slot.path,  slot.offset,
                                  slot.capacity, slot.mapped, slot.fresh, slot.access};
  if (!fill(context.slots, address, message)) return ipc::Placed{slot};
  segment::Piece piece = message.begin.piece;
  segment::ChunkEntry& chunk = piece.chunks[0];
  chunk.place = slot.tier;
  chunk.offset = slot.slot;
  os::crash_point(os::CrashPoint::engine_written);
  (void)take_written(context, client,
                     {message.begin.id, piece.rank, 0, slot.tier, slot.slot, chunk.length, chunk.hash});
  PERDURE_TRY(const auto staged,
              stage_piece(context, client, {message.begin.id, message.begin.ranks, std::move(piece), message.launch}));
  return ipc::Placed{std::nullopt, staged};
}

std::optional<base::Result<ipc::Placed>> answer(ServeContext& context, const Asked& asked,
                                                const ipc::SmallCapture& message) {
  const auto& chunks = message.begin.piece.chunks;
  if (chunks.size() != 1 || chunks[0].length != message.bytes.size())
    return base::fail(refused(message, "its bytes are not those of its one chunk"));
  const auto granted = answer_grant(context, asked, message.grant());
  if (!granted) return std::nullopt;
  if (!*granted) return base::fail(granted->error());
  return place(context, asked.client, message, (*granted)->slot);
}

bool at_once(const ipc::SmallCapture& message) { return message.at_once; }

WaitReason why(NodeState& ledger, const Queued& who, const ipc::SmallCapture&) {
  return why_no_slot(ledger, who.client, who.head);
}

}  // namespace

void enrol_small_capture_handler(Handlers& handlers) {
  handlers.on(Waiter<ipc::SmallCapture>{answer, why, {true, true}, nullptr, grant_waited, arrived, at_once});
}

}  // namespace perdure::engine
