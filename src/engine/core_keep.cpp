// What this node keeps for the other nodes of its groups, and how long versions stay for the sake of others.
// (docs/adr/0014)
#include <algorithm>

#include "base/bytes.hpp"
#include "engine/core.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {
namespace {

SlotKey slot_of(const segment::ChunkEntry& chunk) { return {chunk.place, chunk.offset}; }

std::uint64_t blocks_on(const catalog::Protection& protection, std::uint32_t tier) {
  return static_cast<std::uint64_t>(std::count_if(protection.kept.begin(), protection.kept.end(),
                                                  [tier](const auto& entry) { return entry.second.place == tier; }));
}

}  // namespace

const catalog::Protection* Core::find(const catalog::ProtectionId& id) const {
  const auto it = catalog_.state().protections.find(id);
  return it == catalog_.state().protections.end() ? nullptr : &it->second;
}

std::vector<catalog::Protection> Core::protections() const {
  std::vector<catalog::Protection> all;
  for (const auto& [id, protection] : catalog_.state().protections) all.push_back(protection);
  return all;
}

// Only what is safe elsewhere makes room: redundancy of one version is not worth the only copy of another.
base::Result<tier::SlotAddress> Core::take_slot_to_keep(const segment::VersionId& id, std::uint64_t bytes) {
  for (std::uint32_t t = 0; t < tiers_.size(); ++t) {
    if (trouble_[t].failed || !make_room(t, bytes, id, Sacrifice::stored)) continue;
    auto slot = tiers_[t]->acquire(bytes, kKeeper);
    if (!slot) continue;
    taken_to_keep_.insert({t, *slot});
    return tiers_[t]->address(*slot);
  }
  return base::fail(PERDURE_NO_SPACE, id.text(),
                    "no tier has room for a block of redundancy of " + base::format_bytes(bytes),
                    "raise tier.memory.max_bytes or tier.file.max_bytes", true);
}

// Of all captures under way: announced, not written, and without a slot.
std::uint64_t Core::chunks_to_come() const {
  std::uint64_t chunks = 0;
  for (const auto& [id, capture] : open_captures_) {
    std::uint64_t unwritten = 0, granted = 0;
    for (const auto& [rank, piece] : capture.pieces)
      for (const auto& chunk : piece.chunks) unwritten += chunk.place == kNotWritten ? 1 : 0;
    if (const auto counts = chunks_in_flight_.find(id); counts != chunks_in_flight_.end())
      for (const auto count : counts->second) granted += count;
    chunks += unwritten - std::min(unwritten, granted);
  }
  return chunks;
}

base::Result<tier::SlotAddress> Core::take_spare_slot(const segment::VersionId& id, std::uint64_t bytes) {
  const std::uint64_t to_come = chunks_to_come();
  for (std::uint32_t t = 0; t < tiers_.size(); ++t) {
    const tier::Usage usage = tiers_[t]->usage();
    const std::uint64_t slots = std::max(tiers_[t]->capacity(bytes), usage.slots);
    if (trouble_[t].failed || slots - (usage.slots - usage.free_slots) <= to_come) continue;
    auto slot = tiers_[t]->acquire(bytes, kKeeper);
    if (!slot) continue;
    taken_to_keep_.insert({t, *slot});
    return tiers_[t]->address(*slot);
  }
  return base::fail(PERDURE_NO_SPACE, id.text(), "captures under way need what room there is", {}, true);
}

void Core::protect_before_flush(const segment::VersionId& id, bool first) {
  if (first)
    protected_first_.insert(id);
  else
    protected_first_.erase(id);
}

// Both at once would read the same slots twice as slowly, and level node is the one that applications wait for. Where
// a capture is short of slots it is the flush that makes room.
bool Core::waits_for_protection(const segment::VersionId& id) const {
  return protected_first_.contains(id) && !slots_wanted();
}

const OpenCapture* Core::capture_to_protect(const segment::VersionId& id) const {
  const auto it = open_captures_.find(id);
  if (it == open_captures_.end() || flushed_early(id)) return nullptr;
  const OpenCapture& capture = it->second;
  return capture.announced() && !capture.contradicted && !capture.failure ? &capture : nullptr;
}

void Core::give_back_kept(SlotKey slot) {
  if (taken_to_keep_.erase(slot) > 0) tiers_[slot.first]->release(slot.second);
}

void Core::release_kept(const catalog::Protection& before, const catalog::Protection* after) {
  for (const auto& [block, chunk] : before.kept) {
    const auto still = after == nullptr ? before.kept.end() : after->kept.find(block);
    if (after != nullptr && still != after->kept.end() && slot_of(still->second) == slot_of(chunk)) continue;
    tiers_[chunk.place]->release(chunk.offset);
  }
}

base::Status Core::keep(const catalog::Protection& protection) {
  const auto* known = find(protection.id);
  for (const auto& [block, chunk] : protection.kept) {
    const SlotKey slot = slot_of(chunk);
    const bool taken = taken_to_keep_.contains(slot);
    const bool kept = known != nullptr && std::any_of(known->kept.begin(), known->kept.end(),
                                                      [&](const auto& entry) { return slot_of(entry.second) == slot; });
    if (!taken && !kept)
      return base::fail(PERDURE_INVALID_ARGUMENT, protection.id.text(),
                        "a block is in a slot that was not taken for it");
  }
  const auto before = known == nullptr ? catalog::Protection() : *known;
  os::crash_point(os::CrashPoint::keep_before_catalog);
  PERDURE_CHECK(catalog_.append(catalog::ProtectRecord{protection}));
  os::crash_point(os::CrashPoint::keep_after_catalog);
  for (const auto& [block, chunk] : protection.kept) {
    taken_to_keep_.erase(slot_of(chunk));
    tiers_[chunk.place]->written(chunk.offset);
  }
  release_kept(before, find(protection.id));
  return {};
}

base::Status Core::protection_reached(const catalog::ProtectionId& id) {
  const auto* protection = find(id);
  if (protection == nullptr) return base::fail(PERDURE_NOT_FOUND, id.text(), "this node keeps nothing for it");
  if (protection->reached) return {};
  PERDURE_CHECK(catalog_.append(catalog::ReachedRecord{id}));
  ++counters_.protections_reached;
  os::crash_point(os::CrashPoint::reached_after_catalog);
  return {};
}

base::Status Core::bad_block(const catalog::ProtectionId& id, catalog::BlockName block, const std::string& why) {
  const auto* protection = find(id);
  if (protection == nullptr || !protection->kept.contains(block)) return {};
  const SlotKey slot = slot_of(protection->kept.at(block));
  PERDURE_CHECK(catalog_.append(catalog::BadBlockRecord{id, block, why}));
  ++counters_.quarantined_blocks;
  tiers_[slot.first]->release(slot.second);
  reports_.add("quarantine: " + id.text() + ", block " + std::to_string(block.stripe) + "." +
               std::to_string(block.index) + " of the redundancy: " + why + "; it will not be used");
  return {};
}

base::Status Core::unprotect(const catalog::ProtectionId& id) {
  const auto* found = find(id);
  if (found == nullptr) return {};
  const catalog::Protection protection = *found;
  PERDURE_CHECK(catalog_.append(catalog::UnprotectRecord{id}));
  release_kept(protection, nullptr);
  group_stored_.erase(id);
  return {};
}

base::Status Core::unprotect(const segment::VersionId& id) {
  for (auto it = catalog_.state().protections.lower_bound({id, 0});
       it != catalog_.state().protections.end() && it->first.version == id;
       it = catalog_.state().protections.lower_bound({id, 0}))
    PERDURE_CHECK(unprotect(catalog::ProtectionId(it->first)));
  return {};
}

void Core::group_stored(const catalog::ProtectionId& id) {
  if (find(id) != nullptr) group_stored_.insert(id);
}

void Core::protected_everywhere(const std::string& name, const segment::Attempt& attempt) {
  auto& newest = protected_everywhere_[name];
  newest = std::max(newest, attempt);
  if (auto dropped = drop_unneeded(name); !dropped) reports_.add("catalog: " + dropped.error().text());
}

// Of versions that are not on this node any more. As long as one is, it is a second choice should the newest turn out
// to be damaged.
base::Status Core::drop_unneeded(const std::string& name) {
  std::vector<catalog::ProtectionId> ids;
  for (const auto& [id, protection] : catalog_.state().protections)
    if (id.version.name == name && !needed(protection) && find(id.version) == nullptr) ids.push_back(id);
  for (const auto& id : ids) PERDURE_CHECK(unprotect(id));
  return {};
}

bool Core::superseded(const segment::VersionId& id) const {
  const auto newest = protected_everywhere_.find(id.name);
  return newest != protected_everywhere_.end() && newest->second > id.attempt;
}

// What is kept of it is needed, until all have stored their part, or nobody will ask for the version any more.
bool Core::needed(const catalog::Protection& protection) const {
  return !superseded(protection.id.version) && !group_stored_.contains(protection.id);
}

// Others need this node's part, too. In a new launch nobody says any more who of an earlier group has stored his: then
// what is safe in the store here can go, or there might be no room for new versions ever.
bool Core::guarded(const segment::VersionId& id) const {
  const auto& protections = catalog_.state().protections;
  for (auto it = protections.lower_bound({id, 0}); it != protections.end() && it->first.version == id; ++it)
    if (needed(it->second) && (!epoch_ || it->first.epoch == *epoch_)) return true;
  return false;
}

// Blocks on this tier whose version nobody will rebuild any more.
std::uint64_t Core::count_unneeded(std::uint32_t tier, const segment::VersionId& for_version) const {
  std::uint64_t count = 0;
  for (const auto& [id, protection] : catalog_.state().protections)
    if (id.version != for_version && !needed(protection)) count += blocks_on(protection, tier);
  return count;
}

// The oldest of those that nobody needs, with something on this tier.
const catalog::Protection* Core::unneeded(std::uint32_t tier, const segment::VersionId& for_version) const {
  const catalog::Protection* best = nullptr;
  for (const auto& [id, protection] : catalog_.state().protections) {
    if (id.version == for_version || needed(protection) || blocks_on(protection, tier) == 0) continue;
    if (best == nullptr || id.version.attempt < best->id.version.attempt) best = &protection;
  }
  return best;
}

bool Core::unprotect_one(std::uint32_t tier, const segment::VersionId& for_version) {
  const catalog::Protection* best = unneeded(tier, for_version);
  if (best == nullptr) return false;
  if (auto dropped = unprotect(catalog::ProtectionId(best->id)); !dropped) {
    catalog_error_ = dropped.error();
    return false;
  }
  return true;
}

void Core::adopt_kept() {
  std::vector<std::pair<catalog::ProtectionId, catalog::BlockName>> lost;
  for (const auto& [id, protection] : catalog_.state().protections)
    for (const auto& [block, chunk] : protection.kept)
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
