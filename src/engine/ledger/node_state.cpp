// The node's state after a start, and what it shows of itself.
#include "engine/ledger/node_state.hpp"

#include <algorithm>

#include "engine/ledger/now.hpp"

namespace perdure::engine {

namespace {

// What a tier should reach at least: too low a guess makes producers wait for flushes, and is never corrected.
constexpr double kMemoryBytesPerS = 4e9, kFileBytesPerS = 500e6;

}  // namespace

NodeState::NodeState(catalog::Catalog catalog, std::vector<std::unique_ptr<tier::Tier>> tiers, Reports& reports,
                     NodeStateOptions options)
    : catalog_(std::move(catalog)),
      tiers_(std::move(tiers)),
      reports_(reports),
      options_(std::move(options)),
      observed_(tiers_.size()),
      slots_(tiers_),
      interference_(now_s()),
      writes_(tiers_.size()) {
  if (options_.policy == nullptr) options_.policy = placement::find_policy("hybrid-naive").value();
  options_.models.resize(tiers_.size());
  for (std::size_t t = 0; t < tiers_.size(); ++t) {
    const bool memory = tiers_[t]->properties().mapped;
    const auto assumed = placement::DeviceModel::assumed(memory ? kMemoryBytesPerS : kFileBytesPerS);
    models_.push_back(options_.models[t].model.value_or(assumed));
  }
}

void NodeState::count_chunks(const segment::VersionId& id, const segment::Piece& piece) {
  auto& counts = versions_.at(id).chunks;
  counts.resize(tiers_.size());
  for (const auto& chunk : piece.chunks)
    if (chunk.place < counts.size()) ++counts[chunk.place];
}

base::Status NodeState::recover() {
  tier_health_.assign(tiers_.size(), {});
  for (const auto& error : catalog_.replay_report().damage) reports_.add("catalog: " + error.text());
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    PERDURE_CHECK(catalog_.append(catalog::TierRecord{number, tiers_[i]->properties().name, tiers_[i]->incarnation()}));
  }
  std::vector<segment::VersionId> impossible;
  for (const auto& [id, held] : catalog_.state().versions) {
    bool good = true;
    for (const auto& [rank, piece] : held.pieces)
      for (const auto& chunk : piece.chunks)
        good = good &&
               (chunk.place == catalog::kInTemporarySegment ||
                (chunk.place < tiers_.size() && tiers_[chunk.place]->adopt(chunk.offset, chunk.length).has_value()));
    if (!good) impossible.push_back(id);
    for (const auto& [rank, piece] : held.pieces) count_chunks(id, piece);
    (void)versions_.happens(id, VersionEvent::stage);
    if (!held.committed) continue;
    (void)versions_.happens(id, VersionEvent::commit);
    versions_.at(id).order = next_order_++;
    recorded(held);
    if (held.all_stored()) counters_.reached_store(id.attempt.created_ns);
  }
  PERDURE_CHECK(drop_impossible(impossible));
  adopt_redundancy();
  return {};
}

// A version whose slots the tiers do not know (a damaged catalog): its records go; slots that others use stay theirs.
base::Status NodeState::drop_impossible(const std::vector<segment::VersionId>& ids) {
  for (const auto& id : ids) {
    reports_.add(id.text() + ": the catalog and the tiers disagree about its slots; this node's copy was given up");
    PERDURE_CHECK(catalog_.append(catalog::DropRecord{id}));
    versions_.drop(id);
  }
  if (ids.empty()) return {};
  for (auto& tier : tiers_)
    for (std::uint64_t slot = 0; slot < tier->usage().slots; ++slot) tier->release(slot);
  for (const auto& [id, held] : catalog_.state().versions)
    for (const auto& [rank, piece] : held.pieces)
      for (const auto& chunk : piece.chunks)
        if (chunk.place != catalog::kInTemporarySegment)
          PERDURE_CHECK(tiers_[chunk.place]->adopt(chunk.offset, chunk.length));
  return {};
}

const catalog::HeldVersion* NodeState::find(const segment::VersionId& id) const {
  auto it = catalog_.state().versions.find(id);
  return it == catalog_.state().versions.end() ? nullptr : &it->second;
}

const Runtime* NodeState::runtime(const segment::VersionId& id) const {
  const Version* version = versions_.find(id);
  return version != nullptr && version->held() ? version : nullptr;
}

std::uint64_t NodeState::pending_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, held] : catalog_.state().versions)
    if (held.committed && !held.all_stored()) bytes += held.bytes();
  return bytes;
}

std::size_t NodeState::pending_versions() const {
  std::size_t count = 0;
  for (const auto& [id, version] : versions_)
    if (version.life == Life::delayed || (version.life == Life::committed && version.flush != FlushPhase::given_up))
      ++count;
  return count;
}

std::size_t NodeState::given_up_versions() const {
  std::size_t count = 0;
  for (const auto& [id, version] : versions_)
    if (version.flush == FlushPhase::given_up) ++count;
  return count;
}

std::optional<base::Error> NodeState::last_flush_error() const {
  const Runtime* newest = nullptr;
  for (const auto& [id, version] : versions_) {
    const bool failed = version.life == Life::committed && version.error;
    if (failed && (newest == nullptr || version.order > newest->order)) newest = &version;
  }
  return newest == nullptr ? std::nullopt : newest->error;
}

bool NodeState::holds_unstored() const {
  const auto& versions = catalog_.state().versions;
  return std::any_of(versions.begin(), versions.end(), [](const auto& entry) { return !entry.second.all_stored(); });
}

std::uint64_t NodeState::slot_bytes() const {
  std::uint64_t smallest = ~0ULL;
  for (const auto& tier : tiers_) smallest = std::min(smallest, tier->properties().slot_bytes);
  return smallest;
}

}  // namespace perdure::engine
