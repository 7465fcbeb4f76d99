// What is lent to other nodes after a loss, and what comes back from there. (docs/adr/0014)
#include <algorithm>

#include "engine/core.hpp"
#include "engine/kept_part.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {

Core::Lent Core::lend(ClientId client, const segment::VersionId& id) {
  Lent lent;
  const auto& protections = catalog_.state().protections;
  for (auto it = protections.lower_bound({id, 0}); it != protections.end() && it->first.version == id; ++it)
    lent.protections.push_back(it->second);
  const auto* held = find(id);
  if (held == nullptr) return lent;
  pin(client, id);
  for (const auto& [rank, piece] : held->pieces) {
    Lent::Piece& part = lent.pieces.emplace_back(Lent::Piece{piece, {}});
    for (std::uint32_t c = 0; c < piece.chunks.size(); ++c) {
      const auto& chunk = piece.chunks[c];
      const bool good = chunk.place < tiers_.size() && !held->quarantined.contains({rank, c});
      part.slots.push_back(good ? std::optional(address(chunk)) : std::nullopt);
    }
  }
  return lent;
}

base::Status Core::adopt(const segment::VersionId& id, std::uint32_t ranks, const segment::Piece& piece) {
  const auto* held = find(id);
  if (held != nullptr && held->restorable(piece.rank)) return base::fail(PERDURE_EXISTS, id.text(), "it is here");
  const bool taken = std::all_of(piece.chunks.begin(), piece.chunks.end(), [&](const auto& chunk) {
    return taken_to_keep_.contains({chunk.place, chunk.offset});
  });
  if (!taken) return base::fail(PERDURE_INVALID_ARGUMENT, id.text(), "a chunk is in a slot that was not taken for it");
  std::optional<segment::Piece> before;
  if (held != nullptr && held->pieces.contains(piece.rank)) before = held->pieces.at(piece.rank);
  PERDURE_CHECK(catalog_.append(catalog::StageRecord{id, ranks, piece}));
  for (const auto& chunk : piece.chunks) {
    taken_to_keep_.erase({chunk.place, chunk.offset});
    tiers_[chunk.place]->written(chunk.offset);
  }
  count_chunks(id, piece);
  if (!before) return {};
  for (const auto& chunk : before->chunks) {
    if (chunk.place >= tiers_.size()) continue;
    --runtime_[id].chunks[chunk.place];
    release_slot(id, {chunk.place, chunk.offset});
  }
  return {};
}

std::vector<ipc::KeptSummary> Core::kept_inventory(const std::string& name) const {
  std::vector<ipc::KeptSummary> list;
  for (const auto& [id, protection] : catalog_.state().protections)
    if (name.empty() || id.version.name == name) list.push_back(summary_of(protection));
  return list;
}

std::uint64_t Core::newest_protected_ns(const std::string& name) const {
  std::uint64_t newest = 0;
  for (const auto& [id, protection] : catalog_.state().protections)
    if (id.version.name == name && protection.reached && (!epoch_ || id.epoch == *epoch_))
      newest = std::max(newest, id.version.attempt.created_ns);
  return newest;
}

bool Core::protected_now(const segment::VersionId& id) const {
  const auto& protections = catalog_.state().protections;
  for (auto it = protections.lower_bound({id, 0}); it != protections.end() && it->first.version == id; ++it)
    if (it->second.reached && (!epoch_ || it->first.epoch == *epoch_)) return true;
  return false;
}

std::uint64_t Core::kept_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, protection] : catalog_.state().protections)
    for (const auto& [block, chunk] : protection.kept) bytes += chunk.length;
  return bytes;
}

base::Status Core::unprotect_all(std::uint32_t ranks) {
  std::vector<catalog::ProtectionId> ids;
  for (const auto& [id, protection] : catalog_.state().protections)
    if (protection.ranks == ranks) ids.push_back(id);
  for (const auto& id : ids) PERDURE_CHECK(unprotect(id));
  return {};
}

bool Core::needed_by_others() const {
  return std::any_of(catalog_.state().protections.begin(), catalog_.state().protections.end(),
                     [&](const auto& entry) { return needed(entry.second); });
}

}  // namespace perdure::engine
