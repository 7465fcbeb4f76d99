#include "engine/replicate/replication_ledger.hpp"

#include <algorithm>

#include "redundancy/block_order.hpp"

namespace perdure::engine {

std::optional<std::uint32_t> ReplicationLedger::ranks_of(const segment::VersionId& id) const {
  const auto state = ledger_.lock();
  const auto* held = state->find(id);
  return held == nullptr ? std::nullopt : std::optional(held->ranks);
}

bool ReplicationLedger::reached(const catalog::RedundancyId& id) const {
  const auto state = ledger_.lock();
  const auto* redundancy_set = state->redundancy.find(id);
  return redundancy_set != nullptr && redundancy_set->reached;
}

bool ReplicationLedger::promise(const segment::VersionId& id) {
  const auto state = ledger_.lock();
  return state->redundancy.promise(id);
}

// A piece that migrated to its rank's node is not this node's to store. The node that it came from stores it at some
// time.
bool ReplicationLedger::part_stored(const segment::VersionId& id, const std::vector<segment::Piece>& pieces) const {
  const auto state = ledger_.lock();
  const auto* held = state->find(id);
  if (held == nullptr) return false;
  if (pieces.empty()) return held->all_stored();  // none of its ranks: it has only pieces that it stores for others
  return std::all_of(pieces.begin(), pieces.end(), [held](const auto& piece) { return held->stored(piece.rank); });
}

bool ReplicationLedger::nothing_to_store(const segment::VersionId& id) const {
  const auto state = ledger_.lock();
  const auto* held = state->find(id);
  return held != nullptr && held->all_stored();
}

void ReplicationLedger::pin(const segment::VersionId& id, bool pinned) {
  const auto state = ledger_.lock();
  if (pinned)
    state->held.pin(kRedundancyOwner, id);
  else
    state->held.unpin(kRedundancyOwner, id);
}

void ReplicationLedger::hold_flush(const segment::VersionId& id, bool held) {
  const auto state = ledger_.lock();
  state->flushes.replicate_first(id, held);
}

base::Result<tier::SlotAddress> ReplicationLedger::take_slot(const segment::VersionId& id, std::uint64_t bytes,
                                                             bool spare) {
  const auto state = ledger_.lock();
  return spare ? state->room.take_spare(id, bytes) : state->room.take_for_redundancy(id, bytes);
}

void ReplicationLedger::give_back(const std::vector<segment::ChunkEntry>& blocks) {
  const auto state = ledger_.lock();
  for (const auto& block : blocks) state->room.give_back({block.place, block.offset});
}

void ReplicationLedger::give_back(const tier::SlotAddress& slot) {
  const auto state = ledger_.lock();
  state->room.give_back({slot.tier, slot.slot});
}

base::Status ReplicationLedger::record(const catalog::RedundancySet& redundancy_set) {
  const auto state = ledger_.lock();
  return state->redundancy.keep(redundancy_set);
}

base::Status ReplicationLedger::note_reached(const catalog::RedundancyId& id) {
  const auto state = ledger_.lock();
  return state->redundancy.reached(id);
}

void ReplicationLedger::drop(const catalog::RedundancyId& id) {
  const auto state = ledger_.lock();
  if (auto done = state->redundancy.drop(id); !done) reports_.add("catalog: " + done.error().text());
}

void ReplicationLedger::note_group_stored(const catalog::RedundancyId& id) {
  const auto state = ledger_.lock();
  state->redundancy.group_stored(id);
}

void ReplicationLedger::count_encoded(std::uint64_t bytes) {
  const auto state = ledger_.lock();
  state->counters().encoded_bytes += bytes;
}

void ReplicationLedger::report_withdrawn(const segment::VersionId& id, const base::Error& why, bool part_stored) {
  reports_.add(id.text() + ": it does not reach level node: " + why.text());
  const auto state = ledger_.lock();
  ++(part_stored ? state->counters().replications_stored : state->counters().replications_failed);
}

void ReplicationLedger::count_superseded() {
  const auto state = ledger_.lock();
  ++state->counters().replications_superseded;
}

bool ReplicationLedger::captures_less(const segment::VersionId& id, std::uint64_t bytes) const {
  const auto state = ledger_.lock();
  const OpenCapture* capture = state->captures.find(id);
  if (capture == nullptr) return false;
  std::uint64_t captured = 0;
  for (const auto& [rank, piece] : capture->pieces) captured += piece.capture_bytes();
  return captured < bytes;
}

ReplicationLedger::Capture ReplicationLedger::observe_capture(const segment::VersionId& id, std::size_t& seen) const {
  Capture observed;
  const auto state = ledger_.lock();
  const OpenCapture* capture = state->captures.to_replicate(id);
  observed.over = capture == nullptr && !state->captures.find(id) && state->find(id) == nullptr;
  if (capture == nullptr) return observed;
  observed.ranks = capture->ranks;
  std::vector<std::uint64_t> counts;
  std::map<std::uint32_t, std::uint64_t> index;
  for (const auto& [rank, piece] : capture->pieces) {
    index[rank] = counts.size();
    counts.push_back(piece.chunks.size());
    observed.pieces.push_back(piece);
    for (auto& chunk : observed.pieces.back().chunks) chunk = {0, chunk.length, {}, 0};
  }
  const redundancy::BlockOrder order(counts);
  const CaptureNews news = state->captures.news(id, seen);
  for (std::size_t i = 0; i < news.written.size(); ++i)
    observed.blocks.push_back(
        {order.block({static_cast<std::uint32_t>(index[news.written[i].rank]), news.written[i].chunk}),
         state->address(news.chunks[i]), news.chunks[i].hash});
  return observed;
}

base::Result<ReplicationLedger::Capture> ReplicationLedger::observe_committed(
    const segment::VersionId& id, const std::set<std::uint32_t>& ranks) const {
  Capture observed;
  const auto state = ledger_.lock();
  const auto* held = state->find(id);
  if (held != nullptr && !held->unreachable.empty())
    return base::fail(PERDURE_UNAVAILABLE, id.text(), "a part of it is on a tier that cannot be reached in this launch",
                      "start again when it can; the engine's log says which it is");
  if (held == nullptr || held->any_spilled())
    return base::fail(PERDURE_UNAVAILABLE, id.text(), "a part of it has left this node's tiers already",
                      "raise tier.memory.max_bytes, so that a version fits");
  observed.ranks = held->ranks;
  std::vector<std::uint64_t> counts;
  for (const auto& [rank, piece] : held->pieces) {
    // A rank that migrated has left its piece here. It is replicated on the node where the rank runs now.
    if (!ranks.empty() && !ranks.contains(rank)) continue;
    observed.pieces.push_back(piece);
    counts.push_back(piece.chunks.size());
  }
  const redundancy::BlockOrder order(counts);
  for (std::uint64_t number = 0; number < order.count(); ++number) {
    const auto where = order.chunk(number);
    const auto& chunk = observed.pieces[where.rank].chunks[where.chunk];
    observed.blocks.push_back({number, state->address(chunk), chunk.hash});
  }
  return observed;
}

}  // namespace perdure::engine
