#include "engine/ledger/redundancy_sets.hpp"

#include <algorithm>

#include "engine/ledger/redundancy_share.hpp"
#include "engine/ledger/room.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {
namespace {

// Versions that a run other than this launch's left are not reported at its end.
bool of_another_run(const segment::VersionId& version, const std::vector<ipc::StoredName>& stored) {
  const auto mine = std::find_if(stored.begin(), stored.end(), [&](const auto& until) {
    return until.name == version.name && until.used && !until.branches.empty();
  });
  return mine != stored.end() && !mine->is_about(version);
}

SlotKey slot_of(const segment::ChunkEntry& chunk) { return {chunk.place, chunk.offset}; }

}  // namespace

void RedundancySets::release(const catalog::RedundancySet& before, const catalog::RedundancySet* after) {
  for (const auto& [block, chunk] : before.kept) {
    const auto still = after == nullptr ? before.kept.end() : after->kept.find(block);
    if (after != nullptr && still != after->kept.end() && slot_of(still->second) == slot_of(chunk)) continue;
    (void)node_.slots.happens(slot_of(chunk), SlotEvent::free);
  }
}

base::Status RedundancySets::keep(const catalog::RedundancySet& redundancy_set) {
  const auto* known = find(redundancy_set.id);
  for (const auto& [block, chunk] : redundancy_set.kept) {
    const SlotKey slot = slot_of(chunk);
    const bool taken = node_.slots.state(slot).holder == SlotHolder::redundancy;
    const bool kept = known != nullptr && std::any_of(known->kept.begin(), known->kept.end(),
                                                      [&](const auto& entry) { return slot_of(entry.second) == slot; });
    if (!taken && !kept)
      return base::fail(PERDURE_INVALID_ARGUMENT, redundancy_set.id.text(),
                        "a block is in a slot that was not taken for it");
  }
  const auto before = known == nullptr ? catalog::RedundancySet() : *known;
  os::crash_point(os::CrashPoint::keep_before_catalog);
  PERDURE_CHECK(node_.catalog.append(catalog::RedundancyRecord{redundancy_set}));
  os::crash_point(os::CrashPoint::keep_after_catalog);
  for (const auto& [block, chunk] : redundancy_set.kept) {
    (void)node_.slots.happens(slot_of(chunk), SlotEvent::keep);
    node_.tiers[chunk.place]->written(chunk.offset);
  }
  release(before, find(redundancy_set.id));
  return {};
}

base::Status RedundancySets::reached(const catalog::RedundancyId& id) {
  const auto* redundancy_set = find(id);
  if (redundancy_set == nullptr) return base::fail(PERDURE_NOT_FOUND, id.text(), "this node keeps nothing for it");
  if (redundancy_set->reached) return {};
  PERDURE_CHECK(node_.catalog.append(catalog::ReachedRecord{id}));
  ++node_.counters.replications_reached;
  os::crash_point(os::CrashPoint::reached_after_catalog);
  return {};
}

base::Status RedundancySets::bad_block(const catalog::RedundancyId& id, catalog::BlockName block,
                                       const std::string& why) {
  const auto* redundancy_set = find(id);
  if (redundancy_set == nullptr || !redundancy_set->kept.contains(block)) return {};
  const SlotKey slot = slot_of(redundancy_set->kept.at(block));
  PERDURE_CHECK(node_.catalog.append(catalog::BadBlockRecord{id, block, why}));
  ++node_.counters.quarantined_blocks;
  (void)node_.slots.happens(slot, SlotEvent::free);
  node_.reports.add("quarantine: " + id.text() + ", block " + std::to_string(block.stripe) + "." +
                    std::to_string(block.index) + " of the redundancy: " + why + "; it will not be used");
  return {};
}

base::Status RedundancySets::drop(const catalog::RedundancyId& id) {
  const auto* found = find(id);
  if (found == nullptr) return {};
  const catalog::RedundancySet redundancy_set = *found;
  PERDURE_CHECK(node_.catalog.append(catalog::DropRedundancyRecord{id}));
  release(redundancy_set, nullptr);
  if (Version* version = node_.versions.find(id.version)) {
    version->stored_epochs.erase(id.epoch);
    node_.versions.tidy(id.version);
  }
  return {};
}

base::Status RedundancySets::drop(const segment::VersionId& id) {
  group_stored_.forget(id);
  for (auto it = all().lower_bound({id, 0}); it != all().end() && it->first.version == id;
       it = all().lower_bound({id, 0}))
    PERDURE_CHECK(drop(catalog::RedundancyId(it->first)));
  return {};
}

void RedundancySets::group_stored(const catalog::RedundancyId& id) {
  if (find(id) == nullptr) return;
  node_.versions.at(id.version).stored_epochs.insert(id.epoch);
  group_stored_.note(id.version, id.epoch);
}

// The record holds for later launches, too. Otherwise a tier full of superseded versions would leave no room for
// redundancy in the groups of the next launch. If the catalog cannot take it, everything stays.
void RedundancySets::note_superseded(const catalog::SupersededRecord& record) {
  const auto& known = node_.catalog.state().superseded;
  const auto same = known.find(record.name);
  if (same != known.end() && same->second == record) return;
  if (auto noted = node_.catalog.append(record); !noted) node_.reports.add("catalog: " + noted.error().text());
}

void RedundancySets::node_level_everywhere(const std::string& name, std::uint64_t attempt_ns,
                                           const std::set<std::uint64_t>& keep) {
  note_superseded({name, attempt_ns, keep});
  if (auto dropped = drop_obsolete(name); !dropped) node_.reports.add("catalog: " + dropped.error().text());
}

void RedundancySets::keep_up(const segment::VersionId& id) {
  if (!superseded(id)) return;
  catalog::SupersededRecord record = node_.catalog.state().superseded.at(id.name);
  if (record.keep.size() == catalog::SupersededRecord::kMostKept) record.keep.erase(record.keep.begin());
  record.keep.insert(id.attempt.created_ns);
  note_superseded(record);
}

base::Status RedundancySets::retired(const ipc::Retire& retire) {
  group_stored_.forget_if([&](const segment::VersionId& id) { return retire.names(id); });
  if (!node_.catalog.state().superseded.contains(retire.name)) return {};
  return node_.catalog.append(catalog::SupersededRecord{retire.name, 0, {}});
}

// Concerns versions that are no longer on this node. One that is still here is a second choice, should the newest turn
// out to be damaged.
base::Status RedundancySets::drop_obsolete(const std::string& name) {
  std::vector<catalog::RedundancyId> ids;
  for (const auto& [id, redundancy_set] : all())
    if (id.version.name == name && !needed(redundancy_set) && node_.held(id.version) == nullptr) ids.push_back(id);
  for (const auto& id : ids) PERDURE_CHECK(drop(id));
  return {};
}

bool RedundancySets::superseded(const segment::VersionId& id) const {
  const auto& all = node_.catalog.state().superseded;
  const auto known = all.find(id.name);
  return known != all.end() && known->second.attempt_ns > id.attempt.created_ns &&
         !known->second.keep.contains(id.attempt.created_ns);
}

// A set is also needed while somebody recovers from it.
bool RedundancySets::needed(const catalog::RedundancySet& redundancy_set) const {
  const auto& id = redundancy_set.id;
  const Version* version = node_.versions.find(id.version);
  if (version != nullptr && !version->pinned_by.empty()) return true;
  return !superseded(id.version) && (version == nullptr || !version->stored_epochs.contains(id.epoch));
}

// In a new launch, members of an earlier group no longer report what they have stored. Parts that are in the store may
// then go, or there might never be room for new versions.
bool RedundancySets::guarded(const segment::VersionId& id) const {
  const auto& redundancy_sets = all();
  for (auto it = redundancy_sets.lower_bound({id, 0}); it != redundancy_sets.end() && it->first.version == id; ++it)
    if (needed(it->second) && (!epoch_ || it->first.epoch == *epoch_)) return true;
  return false;
}

std::uint64_t RedundancySets::count_obsolete(std::uint32_t tier, const segment::VersionId& for_version) const {
  std::uint64_t count = 0;
  for (const auto& [id, redundancy_set] : all())
    if (id.version != for_version && !needed(redundancy_set)) count += blocks_on(redundancy_set, tier);
  return count;
}

void RedundancySets::adopt() {
  std::vector<std::pair<catalog::RedundancyId, catalog::BlockName>> lost;
  for (const auto& [id, redundancy_set] : all())
    for (const auto& [block, chunk] : redundancy_set.kept)
      if (chunk.place >= node_.tiers.size() || !node_.tiers[chunk.place]->adopt(chunk.offset, chunk.length))
        lost.emplace_back(id, block);
  for (const auto& [id, block] : lost) {
    const std::string why = "the catalog and the tiers disagree about its slot";
    if (auto noted = node_.catalog.append(catalog::BadBlockRecord{id, block, why}); !noted)
      node_.reports.add("catalog: " + noted.error().text());
    node_.reports.add(id.text() + ", block " + std::to_string(block.stripe) + "." + std::to_string(block.index) +
                      " of the redundancy: " + why + "; it will not be used");
  }
}

std::vector<ipc::RedundancySummary> RedundancySets::inventory(const std::string& name) const {
  std::vector<ipc::RedundancySummary> list;
  for (const auto& [id, redundancy_set] : all())
    if (name.empty() || id.version.name == name) list.push_back(summary_of(redundancy_set));
  return list;
}

// Other nodes rebuild theirs with this node's chunks, so a chunk that is damaged or not in its slot counts as lost. A
// bad block kept for others removes the level at once (see the catalog).
bool RedundancySets::own_part_here(const catalog::RedundancySet& redundancy_set) const {
  const auto* held = node_.held(redundancy_set.id.version);
  const auto& pieces = redundancy_set.members[redundancy_set.position];
  return std::all_of(pieces.begin(), pieces.end(), [held](const auto& piece) {
    return piece.chunks.empty() || (held != nullptr && held->restorable(piece.rank));
  });
}

bool RedundancySets::at_node_level(const segment::VersionId& id) const {
  const auto* stored = group_stored_.find(id);
  if (stored != nullptr && (!epoch_ || *stored == *epoch_)) return true;
  const auto& redundancy_sets = all();
  for (auto it = redundancy_sets.lower_bound({id, 0}); it != redundancy_sets.end() && it->first.version == id; ++it)
    if (it->second.reached && (!epoch_ || it->first.epoch == *epoch_) && own_part_here(it->second)) return true;
  return false;
}

bool RedundancySets::promise(const segment::VersionId& id) {
  keep_up(id);
  return at_node_level(id) && !superseded(id);  // false if the catalog did not take keep_up()'s record
}

std::vector<std::uint64_t> RedundancySets::promised_ns(const std::string& name) const {
  std::set<std::uint64_t> attempts;
  const auto consider = [&](const segment::VersionId& id) {
    if (id.name == name && !superseded(id) && at_node_level(id)) attempts.insert(id.attempt.created_ns);
  };
  for (const auto& [id, redundancy_set] : all()) consider(id.version);
  group_stored_.for_each([&](const segment::VersionId& id, std::uint64_t) { consider(id); });
  while (attempts.size() > ipc::kMostAttempts) attempts.erase(attempts.begin());
  return {attempts.begin(), attempts.end()};
}

bool RedundancySets::promised(const segment::VersionId& id) const {
  const auto& redundancy_sets = all();
  for (auto it = redundancy_sets.lower_bound({id, 0}); it != redundancy_sets.end() && it->first.version == id; ++it)
    if (it->second.reached && needed(it->second)) return true;
  return false;
}

std::uint64_t RedundancySets::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, redundancy_set] : all())
    for (const auto& [block, chunk] : redundancy_set.kept) bytes += chunk.length;
  return bytes;
}

base::Result<std::vector<segment::VersionId>> RedundancySets::drop_stored(std::uint32_t ranks,
                                                                          const std::vector<ipc::StoredName>& stored) {
  std::vector<catalog::RedundancyId> ids;
  std::set<segment::VersionId> stay;
  for (const auto& [id, redundancy_set] : all()) {
    const auto& version = id.version;
    const bool theirs = redundancy_set.ranks == ranks ||
                        std::any_of(stored.begin(), stored.end(),
                                    [&](const auto& until) { return until.name == version.name && until.used; });
    if (!theirs) continue;
    const bool safe = std::any_of(stored.begin(), stored.end(), [&](const auto& until) {
      return until.is_about(version) && version.attempt.created_ns <= until.attempt_ns;
    });
    if (safe)
      ids.push_back(id);
    else if (!of_another_run(version, stored))
      stay.insert(version);
  }
  for (const auto& id : ids) PERDURE_CHECK(drop(id));
  return std::vector<segment::VersionId>(stay.begin(), stay.end());
}

bool RedundancySets::needed_by_others() const {
  return std::any_of(all().begin(), all().end(), [&](const auto& entry) { return needed(entry.second); });
}

}  // namespace perdure::engine
