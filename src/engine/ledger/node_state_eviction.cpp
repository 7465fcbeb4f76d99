// Room: what there is to be had, what is given up for it, and whether any can come at all.
#include <algorithm>

#include "engine/ledger/node_state.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {

bool NodeState::evictable(const catalog::HeldVersion& held) const {
  const Version* version = versions_.find(held.id);
  return held.all_stored() && (version == nullptr || version->pinned_by.empty()) && !guarded(held.id);
}

RoomView NodeState::observe_room(std::uint32_t tier) const {
  RoomView room;
  for (const auto& [id, version] : versions_) {
    if (!version.held()) continue;
    const std::uint64_t chunks = tier < version.chunks.size() ? version.chunks[tier] : 0;
    room.versions.push_back({id, version.life, version.flush, chunks, !version.pinned_by.empty(), guarded(id)});
  }
  for (const auto& [id, redundancy_set] : catalog_.state().redundancy_sets)
    if (!needed(redundancy_set)) room.obsolete.push_back({id, blocks_on(redundancy_set, tier)});
  room.chunks_to_move = count_flushed(tier) > 0;
  room.store_failing = store_failing_;
  return room;
}

// False when it could not be done: the catalog refused.
bool NodeState::evict(std::uint32_t tier, const Eviction& chosen) {
  switch (chosen.what) {
    case Eviction::What::version:
      return evict(chosen.version);
    case Eviction::What::redundancy: {
      auto dropped = drop_redundancy(chosen.redundancy);
      if (!dropped) catalog_error_ = dropped.error();
      return dropped.has_value();
    }
    case Eviction::What::moved_chunk:
      return move_one(tier);
    case Eviction::What::nothing:
      break;
  }
  return false;
}

bool NodeState::evict(const segment::VersionId& id) {
  const bool stored = find(id)->all_stored();
  os::crash_point(os::CrashPoint::evict_before_catalog);
  if (auto dropped = drop(id); !dropped) {
    catalog_error_ = dropped.error();
    return false;
  }
  os::crash_point(os::CrashPoint::evict_after_catalog);
  ++(stored ? counters_.evicted_stored : counters_.evicted_unstored);
  if (!stored) note_lost(id);
  return true;
}

// Said once for as long as the store fails: a long outage must not bury other reports.
void NodeState::note_lost(const segment::VersionId& id) {
  if (dropped_++ == 0)
    reports_.add(id.text() +
                 ": given up before it reached the store, to make room for newer ones; so will others until the store "
                 "works again");
  versions_.note_lost(id);
}

// A tier that failed is avoided until the next checkpoint, and spoken of once until a capture used it again.
void NodeState::tier_failed(std::uint32_t tier, const std::string& why) {
  if (!tier_health_[tier].reported)
    reports_.add("tier " + tiers_[tier]->properties().name + ": " + why + "; using the next tier");
  tier_health_[tier] = {true, true};
}

// A tier grows to what two versions need. Beyond that, versions that are safe in the store go before more is taken from
// the system.
bool NodeState::make_room(std::uint32_t tier, std::uint64_t bytes, const segment::VersionId& for_version,
                          EvictionScope sacrifice) {
  const std::uint64_t target = 2 * expected_.bytes();
  const auto evict_one = [&](RoomWanted::For use) {
    return evict(tier, choose_eviction(observe_room(tier), {for_version, sacrifice, use}));
  };
  while (!tiers_[tier]->has_free(bytes) && tiers_[tier]->usage().bytes + bytes > target)
    if (!evict_one(RoomWanted::For::growth)) break;
  while (!tiers_[tier]->can_hold(bytes))
    if (!evict_one(RoomWanted::For::slot)) return false;
  return true;
}

// Waiting for a slot makes sense only while something can free one that the rank can write. Every slot that was granted
// is written or given back by a rank that waits for nobody; of a capture that is flushed early it then comes back.
bool NodeState::may_become_free(const ipc::Grant& request) const {
  if (catalog_error_) return false;
  const auto usable = [&](std::uint64_t tier) {
    return std::find(request.avoid.begin(), request.avoid.end(), tier) == request.avoid.end();
  };
  const auto any_usable = [&](const std::vector<std::uint64_t>& chunks) {
    for (std::size_t t = 0; t < chunks.size(); ++t)
      if (chunks[t] > 0 && usable(t)) return true;
    return false;
  };
  for (const auto& [id, version] : versions_) {
    const bool early = may_be_flushed_early(id), other = id != request.id;
    if (any_usable(version.granted) && (other || early)) return true;
    const bool coming = version.life >= Life::committed && version.flush != FlushPhase::given_up;
    if (any_usable(version.chunks) && (early || (other && (coming || !version.pinned_by.empty())))) return true;
  }
  return slots_.any_free_after_read(usable);
}

}  // namespace perdure::engine
