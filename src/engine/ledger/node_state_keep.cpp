// What this node keeps for the other nodes of its groups, and how long versions stay for the sake of others.
// (docs/adr/0014)
#include <algorithm>

#include "base/bytes.hpp"
#include "engine/ledger/node_state.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {
namespace {

SlotKey slot_of(const segment::ChunkEntry& chunk) { return {chunk.place, chunk.offset}; }

}  // namespace

const catalog::RedundancySet* NodeState::find(const catalog::RedundancyId& id) const {
  const auto it = catalog_.state().redundancy_sets.find(id);
  return it == catalog_.state().redundancy_sets.end() ? nullptr : &it->second;
}

std::vector<catalog::RedundancySet> NodeState::redundancy_sets() const {
  std::vector<catalog::RedundancySet> all;
  for (const auto& [id, redundancy_set] : catalog_.state().redundancy_sets) all.push_back(redundancy_set);
  return all;
}

// Only what is safe elsewhere makes room: redundancy of one version is not worth the only copy of another.
base::Result<tier::SlotAddress> NodeState::take_redundancy_slot(const segment::VersionId& id, std::uint64_t bytes) {
  for (std::uint32_t t = 0; t < tiers_.size(); ++t) {
    if (tier_health_[t].failed || !make_room(t, bytes, id, EvictionScope::stored)) continue;
    auto slot = tiers_[t]->acquire(bytes, kRedundancyOwner);
    if (!slot) continue;
    (void)slots_.happens({t, *slot}, SlotEvent::reserve);
    return tiers_[t]->address(*slot);
  }
  return base::fail(PERDURE_NO_SPACE, id.text(),
                    "no tier has room for a block of redundancy of " + base::format_bytes(bytes),
                    "raise tier.memory.max_bytes or tier.file.max_bytes", true);
}

// Of all captures under way: announced, not written, and without a slot.
std::uint64_t NodeState::chunks_to_come() const {
  std::uint64_t chunks = 0;
  for (const auto& [id, version] : versions_) {
    if (!version.capture) continue;
    std::uint64_t unwritten = 0;
    for (const auto& [rank, piece] : version.capture->pieces)
      for (const auto& chunk : piece.chunks) unwritten += chunk.place == kNotWritten ? 1 : 0;
    chunks += unwritten - std::min(unwritten, version.slots_granted());
  }
  return chunks;
}

base::Result<tier::SlotAddress> NodeState::take_spare_slot(const segment::VersionId& id, std::uint64_t bytes) {
  const std::uint64_t to_come = chunks_to_come();
  for (std::uint32_t t = 0; t < tiers_.size(); ++t) {
    const tier::Usage usage = tiers_[t]->usage();
    const std::uint64_t slots = std::max(tiers_[t]->capacity(bytes), usage.slots);
    if (tier_health_[t].failed || slots - (usage.slots - usage.free_slots) <= to_come) continue;
    auto slot = tiers_[t]->acquire(bytes, kRedundancyOwner);
    if (!slot) continue;
    (void)slots_.happens({t, *slot}, SlotEvent::reserve);
    return tiers_[t]->address(*slot);
  }
  return base::fail(PERDURE_NO_SPACE, id.text(), "captures under way need what room there is", {}, true);
}

void NodeState::replicate_before_flush(const segment::VersionId& id, bool first) {
  if (Version* version = versions_.find(id)) version->replicate_first = first;
}

// Both at once would read the same slots twice as slowly, and level node is the one that applications wait for. Where
// a capture is short of slots it is the flush that makes room.
bool NodeState::waits_for_replication(const segment::VersionId& id) const {
  const Version* version = versions_.find(id);
  return version != nullptr && version->replicate_first && !slots_wanted();
}

const OpenCapture* NodeState::capture_to_replicate(const segment::VersionId& id) const {
  const OpenCapture* open = capture(id);
  if (open == nullptr || write_through(id)) return nullptr;
  return open->announced() && !open->contradicted && !open->failure ? open : nullptr;
}

void NodeState::give_back_redundancy_slot(SlotKey slot) {
  if (slots_.state(slot).holder == SlotHolder::redundancy) (void)slots_.happens(slot, SlotEvent::free);
}

void NodeState::release_redundancy(const catalog::RedundancySet& before, const catalog::RedundancySet* after) {
  for (const auto& [block, chunk] : before.kept) {
    const auto still = after == nullptr ? before.kept.end() : after->kept.find(block);
    if (after != nullptr && still != after->kept.end() && slot_of(still->second) == slot_of(chunk)) continue;
    (void)slots_.happens(slot_of(chunk), SlotEvent::free);
  }
}

base::Status NodeState::keep(const catalog::RedundancySet& redundancy_set) {
  const auto* known = find(redundancy_set.id);
  for (const auto& [block, chunk] : redundancy_set.kept) {
    const SlotKey slot = slot_of(chunk);
    const bool taken = slots_.state(slot).holder == SlotHolder::redundancy;
    const bool kept = known != nullptr && std::any_of(known->kept.begin(), known->kept.end(),
                                                      [&](const auto& entry) { return slot_of(entry.second) == slot; });
    if (!taken && !kept)
      return base::fail(PERDURE_INVALID_ARGUMENT, redundancy_set.id.text(),
                        "a block is in a slot that was not taken for it");
  }
  const auto before = known == nullptr ? catalog::RedundancySet() : *known;
  os::crash_point(os::CrashPoint::keep_before_catalog);
  PERDURE_CHECK(catalog_.append(catalog::RedundancyRecord{redundancy_set}));
  os::crash_point(os::CrashPoint::keep_after_catalog);
  for (const auto& [block, chunk] : redundancy_set.kept) {
    (void)slots_.happens(slot_of(chunk), SlotEvent::keep);
    tiers_[chunk.place]->written(chunk.offset);
  }
  release_redundancy(before, find(redundancy_set.id));
  return {};
}

base::Status NodeState::redundancy_reached(const catalog::RedundancyId& id) {
  const auto* redundancy_set = find(id);
  if (redundancy_set == nullptr) return base::fail(PERDURE_NOT_FOUND, id.text(), "this node keeps nothing for it");
  if (redundancy_set->reached) return {};
  PERDURE_CHECK(catalog_.append(catalog::ReachedRecord{id}));
  ++counters_.protections_reached;
  os::crash_point(os::CrashPoint::reached_after_catalog);
  return {};
}

base::Status NodeState::bad_block(const catalog::RedundancyId& id, catalog::BlockName block, const std::string& why) {
  const auto* redundancy_set = find(id);
  if (redundancy_set == nullptr || !redundancy_set->kept.contains(block)) return {};
  const SlotKey slot = slot_of(redundancy_set->kept.at(block));
  PERDURE_CHECK(catalog_.append(catalog::BadBlockRecord{id, block, why}));
  ++counters_.quarantined_blocks;
  (void)slots_.happens(slot, SlotEvent::free);
  reports_.add("quarantine: " + id.text() + ", block " + std::to_string(block.stripe) + "." +
               std::to_string(block.index) + " of the redundancy: " + why + "; it will not be used");
  return {};
}

base::Status NodeState::drop_redundancy(const catalog::RedundancyId& id) {
  const auto* found = find(id);
  if (found == nullptr) return {};
  const catalog::RedundancySet redundancy_set = *found;
  PERDURE_CHECK(catalog_.append(catalog::DropRedundancyRecord{id}));
  release_redundancy(redundancy_set, nullptr);
  group_stored_.erase(id);
  return {};
}

base::Status NodeState::drop_redundancy(const segment::VersionId& id) {
  for (auto it = catalog_.state().redundancy_sets.lower_bound({id, 0});
       it != catalog_.state().redundancy_sets.end() && it->first.version == id;
       it = catalog_.state().redundancy_sets.lower_bound({id, 0}))
    PERDURE_CHECK(drop_redundancy(catalog::RedundancyId(it->first)));
  return {};
}

void NodeState::group_stored(const catalog::RedundancyId& id) {
  if (find(id) != nullptr) group_stored_.insert(id);
}

void NodeState::node_level_everywhere(const std::string& name, const segment::Attempt& attempt) {
  auto& newest = node_level_everywhere_[name];
  newest = std::max(newest, attempt);
  if (auto dropped = drop_obsolete(name); !dropped) reports_.add("catalog: " + dropped.error().text());
}

// Of versions that are not on this node any more. As long as one is, it is a second choice should the newest turn out
// to be damaged.
base::Status NodeState::drop_obsolete(const std::string& name) {
  std::vector<catalog::RedundancyId> ids;
  for (const auto& [id, redundancy_set] : catalog_.state().redundancy_sets)
    if (id.version.name == name && !needed(redundancy_set) && find(id.version) == nullptr) ids.push_back(id);
  for (const auto& id : ids) PERDURE_CHECK(drop_redundancy(id));
  return {};
}

bool NodeState::superseded(const segment::VersionId& id) const {
  const auto newest = node_level_everywhere_.find(id.name);
  return newest != node_level_everywhere_.end() && newest->second > id.attempt;
}

// What is kept of it is needed, until all have stored their part, or nobody will ask for the version any more.
bool NodeState::needed(const catalog::RedundancySet& redundancy_set) const {
  return !superseded(redundancy_set.id.version) && !group_stored_.contains(redundancy_set.id);
}

// Others need this node's part, too. In a new launch nobody says any more who of an earlier group has stored his: then
// what is safe in the store here can go, or there might be no room for new versions ever.
bool NodeState::guarded(const segment::VersionId& id) const {
  const auto& redundancy_sets = catalog_.state().redundancy_sets;
  for (auto it = redundancy_sets.lower_bound({id, 0}); it != redundancy_sets.end() && it->first.version == id; ++it)
    if (needed(it->second) && (!epoch_ || it->first.epoch == *epoch_)) return true;
  return false;
}

// Blocks on this tier whose version nobody will rebuild any more.
std::uint64_t NodeState::count_obsolete(std::uint32_t tier, const segment::VersionId& for_version) const {
  std::uint64_t count = 0;
  for (const auto& [id, redundancy_set] : catalog_.state().redundancy_sets)
    if (id.version != for_version && !needed(redundancy_set)) count += blocks_on(redundancy_set, tier);
  return count;
}

void NodeState::adopt_redundancy() {
  std::vector<std::pair<catalog::RedundancyId, catalog::BlockName>> lost;
  for (const auto& [id, redundancy_set] : catalog_.state().redundancy_sets)
    for (const auto& [block, chunk] : redundancy_set.kept)
      if (chunk.place >= tiers_.size() || !tiers_[chunk.place]->adopt(chunk.offset, chunk.length))
        lost.emplace_back(id, block);
  for (const auto& [id, block] : lost) {
    const std::string why = "the catalog and the tiers disagree about its slot";
    if (auto noted = catalog_.append(catalog::BadBlockRecord{id, block, why}); !noted)
      reports_.add("catalog: " + noted.error().text());
    reports_.add(id.text() + ", block " + std::to_string(block.stripe) + "." + std::to_string(block.index) +
                 " of the redundancy: " + why + "; it will not be used");
  }
}

}  // namespace perdure::engine
