// The core after a start, and what it shows of itself.
#include "engine/core.hpp"

#include <algorithm>

#include "engine/now.hpp"

namespace perdure::engine {

namespace {

// What a tier should reach at least: too low a guess makes producers wait for flushes, and is never corrected.
constexpr double kMemoryBytesPerS = 4e9, kFileBytesPerS = 500e6;

}  // namespace

Core::Core(catalog::Catalog catalog, std::vector<std::unique_ptr<tier::Tier>> tiers, Reports& reports,
           CoreOptions options)
    : catalog_(std::move(catalog)),
      tiers_(std::move(tiers)),
      reports_(reports),
      options_(std::move(options)),
      observed_(tiers_.size()),
      readers_(tiers_.size()),
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

void Core::count_chunks(const segment::VersionId& id, const segment::Piece& piece) {
  auto& counts = runtime_[id].chunks;
  counts.resize(tiers_.size());
  for (const auto& chunk : piece.chunks)
    if (chunk.place < counts.size()) ++counts[chunk.place];
}

base::Status Core::recover() {
  trouble_.assign(tiers_.size(), {});
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
    Runtime& run = runtime_[id];
    if (!held.committed) continue;
    run.order = next_order_++;
    if (held.all_stored()) counters_.reached_store(id.attempt.created_ns);
  }
  PERDURE_CHECK(drop_impossible(impossible));
  adopt_kept();
  return {};
}

// A version whose slots the tiers do not know (a damaged catalog): its records go; slots that others use stay theirs.
base::Status Core::drop_impossible(const std::vector<segment::VersionId>& ids) {
  for (const auto& id : ids) {
    reports_.add(id.text() + ": the catalog and the tiers disagree about its slots; this node's copy was given up");
    PERDURE_CHECK(catalog_.append(catalog::DropRecord{id}));
    runtime_.erase(id);
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

const catalog::HeldVersion* Core::find(const segment::VersionId& id) const {
  auto it = catalog_.state().versions.find(id);
  return it == catalog_.state().versions.end() ? nullptr : &it->second;
}

const Runtime* Core::runtime(const segment::VersionId& id) const {
  auto it = runtime_.find(id);
  return it == runtime_.end() ? nullptr : &it->second;
}

std::uint64_t Core::pending_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, held] : catalog_.state().versions)
    if (held.committed && !held.all_stored()) bytes += held.bytes();
  return bytes;
}

std::size_t Core::pending_versions() const {
  std::size_t count = 0;
  for (const auto& [id, held] : catalog_.state().versions) {
    const Runtime* run = runtime(id);
    if (held.committed && !held.all_stored() && (run == nullptr || run->flush != FlushState::given_up)) ++count;
  }
  return count + delayed_commits_.size();
}

std::size_t Core::given_up_versions() const {
  std::size_t count = 0;
  for (const auto& [id, run] : runtime_)
    if (run.flush == FlushState::given_up) ++count;
  return count;
}

std::optional<base::Error> Core::last_flush_error() const {
  const Runtime* newest = nullptr;
  for (const auto& [id, held] : catalog_.state().versions) {
    const Runtime* run = runtime(id);
    const bool failed = held.committed && !held.all_stored() && run != nullptr && run->error;
    if (failed && (newest == nullptr || run->order > newest->order)) newest = run;
  }
  return newest == nullptr ? std::nullopt : newest->error;
}

bool Core::holds_unstored() const {
  const auto& versions = catalog_.state().versions;
  return std::any_of(versions.begin(), versions.end(), [](const auto& entry) { return !entry.second.all_stored(); });
}

std::uint64_t Core::slot_bytes() const {
  std::uint64_t smallest = ~0ULL;
  for (const auto& tier : tiers_) smallest = std::min(smallest, tier->properties().slot_bytes);
  return smallest;
}

}  // namespace perdure::engine
