// Handles requests about the versions that this node holds.
#include <algorithm>

#include "engine/flush/flusher.hpp"
#include "engine/peers/node_group.hpp"
#include "engine/serve/handlers.hpp"
#include "engine/serve/reply_parts.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {
namespace {

using ipc::Done;
using InventoryJob = InBackground<ipc::Inventory>::Job;

/// Returns this node's own part of the answer.
ipc::Holdings holdings(const NodeState& ledger, const ipc::Inventory& inventory, bool in_group) {
  ipc::Holdings reply;
  reply.held = ledger.held.inventory(inventory.name, inventory.launch);
  if (!inventory.kept) return reply;
  reply.kept.emplace();
  if (in_group) reply.kept = ledger.redundancy.inventory(inventory.name);
  return reply;
}

std::variant<base::Result<ipc::Holdings>, InventoryJob> begin_inventory(ServeContext& context, ClientId,
                                                                        const ipc::Inventory& inventory) {
  os::crash_point(os::CrashPoint::engine_inventory);
  NodeGroup* group = context.options.group;
  if (!inventory.kept || group == nullptr) {
    const auto ledger = context.ledger.lock();
    return base::Result<ipc::Holdings>(holdings(*ledger, inventory, group != nullptr));
  }
  return InventoryJob([group, inventory, &shared = context.ledger]() -> base::Result<ipc::Holdings> {
    auto at_servers = group->redundancy_at_servers(inventory.name);
    const auto ledger = shared.lock();
    auto reply = holdings(*ledger, inventory, true);
    reply.kept->insert(reply.kept->begin(), std::make_move_iterator(at_servers.begin()),
                       std::make_move_iterator(at_servers.end()));
    return reply;
  });
}

WaitReason why_inventory(const ipc::Inventory&) {
  return {"redundancy", "what is kept for other nodes is looked at, and parity servers are asked"};
}

// Returns the rank's segment, whether it is published already or being written.
std::optional<ipc::PlannedSegment> segment_of(const NodeState& ledger, const segment::VersionId& id,
                                              std::uint32_t rank) {
  for (const auto& segment : ledger.find(id)->segments)
    if (std::find(segment.ranks.begin(), segment.ranks.end(), rank) != segment.ranks.end())
      return ipc::PlannedSegment{segment.index, segment.count, segment.ranks};
  return std::nullopt;
}

base::Result<ipc::Located> locate(ServeContext& context, ClientId client, const ipc::Locate& locate) {
  const auto ledger = context.ledger.lock();
  PERDURE_TRY(const segment::Piece* piece, ledger->held.locate(client, locate.id, locate.rank));
  ipc::Located reply;
  reply.piece = *piece;
  for (const auto& chunk : piece->chunks) {
    const bool moved = chunk.place == catalog::kInTemporarySegment;
    reply.slots.push_back(moved ? ipc::SlotAddress{} : address_in_message(ledger->address(chunk)));
    if (moved && !reply.temporary) reply.temporary = segment_of(*ledger, locate.id, locate.rank);
  }
  for (const auto& [rank, chunk] : ledger->find(locate.id)->quarantined)
    if (rank == locate.rank) reply.quarantined.push_back(chunk);
  return reply;
}

base::Result<Done> unpin(ServeContext& context, ClientId client, const ipc::Unpin&) {
  const auto ledger = context.ledger.lock();
  ledger->held.unpin(client);
  return Done{};
}

base::Result<Done> quarantine(ServeContext& context, ClientId, const ipc::Quarantine& quarantine) {
  const auto ledger = context.ledger.lock();
  return done(ledger->held.quarantine(quarantine));
}

void count_restored(ServeContext& context, ClientId, const ipc::Restored& restored) {
  const auto ledger = context.ledger.lock();
  ledger->counters().restored_from_slots_bytes += restored.slot_bytes;
  ledger->counters().restored_from_store_bytes += restored.store_bytes;
}

base::Result<Done> see_incarnation(ServeContext& context, ClientId, const ipc::StoreIncarnation& seen) {
  {
    const auto ledger = context.ledger.lock();
    PERDURE_TRY([[maybe_unused]] const bool moved, ledger->flushes.see_incarnation(seen.name, seen.incarnation));
  }
  context.flusher.notify();
  return Done{};
}

base::Result<Done> segments_gone(ServeContext& context, ClientId, const ipc::SegmentsGone& gone) {
  {
    const auto ledger = context.ledger.lock();
    PERDURE_CHECK(ledger->flushes.segments_gone(gone.id, gone.segments));
  }
  context.flusher.notify();
  return Done{};
}

void tell_group_gone(ServeContext& context, const ipc::Retire& retire) {
  if (context.options.group == nullptr) return;
  std::set<segment::VersionId> ids;
  {
    const auto ledger = context.ledger.lock();
    ids = ledger->held.named_by(retire);
  }
  for (const auto& id : ids) context.options.group->gone(id);
}

std::optional<base::Result<Done>> answer_retire(ServeContext& context, const Asked& asked, const ipc::Retire& retire) {
  tell_group_gone(context, retire);
  const auto ledger = context.ledger.lock();
  for (const auto& summary : ledger->held.inventory(retire.name)) {
    const Version* run = ledger->version(summary.id);
    const bool busy = run != nullptr && run->flush == FlushPhase::running && !summary.stored;
    if (retire.names(summary.id) && busy && !asked.timed_out) return std::nullopt;
  }
  return done(ledger->held.retire(retire));
}

WaitReason why_retire(NodeState&, const Queued&, const ipc::Retire& retire) {
  const std::string what = retire.version ? "version " + std::to_string(*retire.version) : "a version";
  return {"flush", retire.name + ": " + what + " is being flushed"};
}

}  // namespace

void enrol_version_handlers(Handlers& handlers) {
  handlers.on(InBackground<ipc::Inventory>{begin_inventory, why_inventory});
  handlers.on<ipc::Locate>(locate);
  handlers.on<ipc::Unpin>(unpin);
  handlers.on<ipc::Quarantine>(quarantine);
  handlers.on<ipc::Restored>(count_restored);
  handlers.on<ipc::StoreIncarnation>(see_incarnation);
  handlers.on<ipc::SegmentsGone>(segments_gone);
  handlers.on(Waiter<ipc::Retire>{answer_retire, why_retire, {false, true}});
}

}  // namespace perdure::engine
