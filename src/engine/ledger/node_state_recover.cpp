// What the node exports to others after a loss, and what it takes in from them. (docs/adr/0014)
#include <algorithm>

#include "engine/ledger/node_state.hpp"
#include "engine/ledger/redundancy_share.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {

NodeState::Exported NodeState::export_pieces(ClientId client, const segment::VersionId& id) {
  Exported lent;
  const auto& redundancy_sets = catalog_.state().redundancy_sets;
  for (auto it = redundancy_sets.lower_bound({id, 0}); it != redundancy_sets.end() && it->first.version == id; ++it)
    lent.redundancy_sets.push_back(it->second);
  const auto* held = find(id);
  if (held == nullptr) return lent;
  pin(client, id);
  for (const auto& [rank, piece] : held->pieces) {
    Exported::Piece& part = lent.pieces.emplace_back(Exported::Piece{piece, {}});
    for (std::uint32_t c = 0; c < piece.chunks.size(); ++c) {
      const auto& chunk = piece.chunks[c];
      const bool good = chunk.place < tiers_.size() && !held->quarantined.contains({rank, c});
      part.slots.push_back(good ? std::optional(address(chunk)) : std::nullopt);
    }
  }
  return lent;
}

base::Status NodeState::adopt(const segment::VersionId& id, std::uint32_t ranks, const segment::Piece& piece) {
  const auto* held = find(id);
  if (held != nullptr && held->restorable(piece.rank)) return base::fail(PERDURE_EXISTS, id.text(), "it is here");
  const bool taken = std::all_of(piece.chunks.begin(), piece.chunks.end(), [&](const auto& chunk) {
    return slots_.state({chunk.place, chunk.offset}).holder == SlotHolder::redundancy;
  });
  if (!taken) return base::fail(PERDURE_INVALID_ARGUMENT, id.text(), "a chunk is in a slot that was not taken for it");
  std::optional<segment::Piece> before;
  if (held != nullptr && held->pieces.contains(piece.rank)) before = held->pieces.at(piece.rank);
  PERDURE_CHECK(catalog_.append(catalog::StageRecord{id, ranks, piece}));
  for (const auto& chunk : piece.chunks) {
    (void)slots_.happens({chunk.place, chunk.offset}, SlotEvent::keep);
    tiers_[chunk.place]->written(chunk.offset);
  }
  (void)versions_.happens(id, VersionEvent::stage);
  count_chunks(id, piece);
  if (!before) return {};
  for (const auto& chunk : before->chunks) {
    if (chunk.place >= tiers_.size()) continue;
    --versions_.at(id).chunks[chunk.place];
    release_slot(id, {chunk.place, chunk.offset});
  }
  return {};
}

std::vector<ipc::RedundancySummary> NodeState::redundancy_inventory(const std::string& name) const {
  std::vector<ipc::RedundancySummary> list;
  for (const auto& [id, redundancy_set] : catalog_.state().redundancy_sets)
    if (name.empty() || id.version.name == name) list.push_back(summary_of(redundancy_set));
  return list;
}

std::uint64_t NodeState::newest_at_node_level_ns(const std::string& name) const {
  std::uint64_t newest = 0;
  for (const auto& [id, redundancy_set] : catalog_.state().redundancy_sets)
    if (id.version.name == name && redundancy_set.reached && (!epoch_ || id.epoch == *epoch_))
      newest = std::max(newest, id.version.attempt.created_ns);
  return newest;
}

bool NodeState::at_node_level(const segment::VersionId& id) const {
  const auto& redundancy_sets = catalog_.state().redundancy_sets;
  for (auto it = redundancy_sets.lower_bound({id, 0}); it != redundancy_sets.end() && it->first.version == id; ++it)
    if (it->second.reached && (!epoch_ || it->first.epoch == *epoch_)) return true;
  return false;
}

std::uint64_t NodeState::redundancy_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, redundancy_set] : catalog_.state().redundancy_sets)
    for (const auto& [block, chunk] : redundancy_set.kept) bytes += chunk.length;
  return bytes;
}

base::Status NodeState::drop_all_redundancy(std::uint32_t ranks) {
  std::vector<catalog::RedundancyId> ids;
  for (const auto& [id, redundancy_set] : catalog_.state().redundancy_sets)
    if (redundancy_set.ranks == ranks) ids.push_back(id);
  for (const auto& id : ids) PERDURE_CHECK(drop_redundancy(id));
  return {};
}

bool NodeState::needed_by_others() const {
  return std::any_of(catalog_.state().redundancy_sets.begin(), catalog_.state().redundancy_sets.end(),
                     [&](const auto& entry) { return needed(entry.second); });
}

}  // namespace perdure::engine
