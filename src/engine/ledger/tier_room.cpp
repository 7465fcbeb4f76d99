#include "engine/ledger/tier_room.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "ipc/capture_messages.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {

RoomView TierRoom::observe(std::uint32_t tier) const {
  RoomView room;
  for (const auto& [id, version] : node_.versions) {
    if (!version.held()) continue;
    const std::uint64_t chunks = tier < version.chunks.size() ? version.chunks[tier] : 0;
    room.versions.push_back({id, version.life, version.flush, chunks, !version.pinned_by.empty(),
                             redundancy_.guarded(id), redundancy_.promised(id), node_.held(id)->unreachable.size(),
                             version.remains ? RoomView::Held::Outcome::awaited : RoomView::Held::Outcome::known});
  }
  for (const auto& [id, redundancy_set] : node_.catalog.state().redundancy_sets)
    if (!redundancy_.needed(redundancy_set)) room.obsolete.push_back({id, blocks_on(redundancy_set, tier)});
  room.chunks_to_spill = count_flushed(tier) > 0;
  room.store_failing = node_.store_failing;
  return room;
}

// False if the catalog refused.
bool TierRoom::evict(std::uint32_t tier, const Eviction& chosen) {
  switch (chosen.what) {
    case Eviction::What::version:
      return evict(chosen.version);
    case Eviction::What::redundancy: {
      auto dropped = redundancy_.drop(chosen.redundancy);
      if (!dropped) refused_ = dropped.error();
      return dropped.has_value();
    }
    case Eviction::What::spilled_chunk:
      return spill_one(tier);
    case Eviction::What::nothing:
      break;
  }
  return false;
}

bool TierRoom::evict(const segment::VersionId& id) {
  const bool stored = node_.held(id)->all_stored();
  const Version* version = node_.versions.find(id);
  const bool remains = version != nullptr && version->remains;
  os::crash_point(os::CrashPoint::evict_before_catalog);
  if (auto dropped = held_.drop(id); !dropped) {
    refused_ = dropped.error();
    return false;
  }
  os::crash_point(os::CrashPoint::evict_after_catalog);
  ++(stored ? node_.counters.evicted_stored : node_.counters.evicted_unstored);
  if (remains)
    node_.reports.add(id.text() +
                      ": what is here of it was given up to make room; the rest is where this launch cannot look");
  else if (!stored)
    note_lost(id);
  return true;
}

// It is reported once for as long as the store fails, so that a long outage does not bury other reports.
void TierRoom::note_lost(const segment::VersionId& id) {
  if (node_.lost_versions++ == 0)
    node_.reports.add(
        id.text() +
        ": given up before it reached the store, to make room for newer ones; so will others until the store "
        "works again");
  node_.versions.note_lost(id);
}

// A tier grows to the size of two versions. Beyond that, versions that are safe in the store are evicted before the
// tier takes more from the system.
bool TierRoom::must_go_first(std::uint32_t tier, std::uint64_t bytes) const {
  const std::uint64_t target = 2 * node_.observed.expected.bytes();
  return !node_.tiers[tier]->has_free(bytes) && node_.tiers[tier]->usage().bytes + bytes > target;
}

bool TierRoom::make(std::uint32_t tier, std::uint64_t bytes, const segment::VersionId& for_version,
                    EvictionScope sacrifice) {
  const auto evict_one = [&](RoomWanted::For use) {
    return evict(tier, choose_eviction(observe(tier), {for_version, sacrifice, use}));
  };
  while (must_go_first(tier, bytes))
    if (!evict_one(RoomWanted::For::growth)) break;
  while (!node_.tiers[tier]->can_hold(bytes))
    if (!evict_one(RoomWanted::For::slot)) return false;
  return true;
}

void TierRoom::make_ahead(const segment::VersionId& stored) {
  const auto* held = node_.held(stored);
  const auto is_short = [](const auto& entry) {
    const auto& chunks = entry.second.chunks;
    return chunks.size() == 1 && chunks[0].length <= ipc::kMostInMessage;
  };
  if (held == nullptr || held->pieces.empty() || !std::all_of(held->pieces.begin(), held->pieces.end(), is_short))
    return;
  const auto& chunk = held->pieces.begin()->second.chunks[0];
  const bool next_comes = node_.observed.expected.bytes() > 0;  // its ranks are there
  if (!next_comes || chunk.place >= node_.usable_tiers || node_.tier_health[chunk.place].failed) return;
  const auto tier = static_cast<std::uint32_t>(chunk.place);
  if (must_go_first(tier, chunk.length)) (void)evict(tier, choose_ahead(observe(tier), stored));
}

// Waiting makes sense only while something can free a slot that the rank can write. Every granted slot is written or
// given back by a rank that waits for nobody; if its capture is flushed early, it then comes back. Guests go with the
// restore of their client, and a rank that captures at the same time is not that client.
bool TierRoom::may_become_free(ClientId client, const ipc::Grant& request) const {
  if (refused_) return false;
  const auto usable = [&](std::uint64_t tier) {
    return tier < node_.usable_tiers &&
           std::find(request.avoid.begin(), request.avoid.end(), tier) == request.avoid.end();
  };
  const auto any_usable = [&](const std::vector<std::uint64_t>& chunks) {
    for (std::size_t t = 0; t < chunks.size(); ++t)
      if (chunks[t] > 0 && usable(t)) return true;
    return false;
  };
  for (const auto& [id, version] : node_.versions) {
    const bool early = captures_.may_be_written_through(id), other = id != request.id;
    if (any_usable(version.granted) && (other || early)) return true;
    const bool coming = version.life >= Life::committed && version.flush != FlushPhase::given_up;
    if (any_usable(version.chunks) && (early || (other && (coming || !version.pinned_by.empty())))) return true;
  }
  return node_.slots.any_free_after_read(usable) || guests_.any_of_others(client, usable);
}

// Redundancy of one version is not worth the only copy of another that the launch can have. First only data that is
// safe elsewhere makes room, then data that the launch cannot have.
base::Result<tier::SlotAddress> TierRoom::take_for_redundancy(const segment::VersionId& id, std::uint64_t bytes,
                                                              EvictionScope most) {
  auto taken = take_slot(id, bytes, EvictionScope::stored);
  return taken ? taken : take_slot(id, bytes, most);
}

base::Result<tier::SlotAddress> TierRoom::take_slot(const segment::VersionId& id, std::uint64_t bytes,
                                                    EvictionScope scope) {
  for (std::uint32_t t = 0; t < node_.usable_tiers; ++t) {
    // Evict nothing for a chunk that the tier does not take in any case.
    if (node_.tier_health[t].failed || node_.tiers[t]->capacity(bytes) == 0) continue;
    if (!make(t, bytes, id, scope)) continue;
    auto slot = node_.tiers[t]->acquire(bytes, kRedundancyOwner);
    if (!slot) continue;
    (void)node_.slots.happens({t, *slot}, SlotEvent::reserve);
    return node_.tiers[t]->address(*slot);
  }
  return base::fail(PERDURE_NO_SPACE, id.text(),
                    "no tier has room for a block of redundancy of " + base::format_bytes(bytes),
                    "raise tier.memory.max_bytes or tier.file.max_bytes", true);
}

base::Result<tier::SlotAddress> TierRoom::take_spare(const segment::VersionId& id, std::uint64_t bytes) {
  const std::uint64_t to_come = captures_.chunks_to_come();
  for (std::uint32_t t = 0; t < node_.usable_tiers; ++t) {
    const tier::Usage usage = node_.tiers[t]->usage();
    const std::uint64_t slots = std::max(node_.tiers[t]->capacity(bytes), usage.slots);
    if (node_.tier_health[t].failed || slots - (usage.slots - usage.free_slots) <= to_come) continue;
    auto slot = node_.tiers[t]->acquire(bytes, kRedundancyOwner);
    if (!slot) continue;
    (void)node_.slots.happens({t, *slot}, SlotEvent::reserve);
    return node_.tiers[t]->address(*slot);
  }
  return base::fail(PERDURE_NO_SPACE, id.text(), "captures under way need what room there is", {}, true);
}

void TierRoom::give_back(SlotKey slot) {
  if (node_.slots.state(slot).holder == SlotHolder::redundancy) (void)node_.slots.happens(slot, SlotEvent::free);
}

// Other nodes cannot rebuild from a chunk that is in a temporary segment only.
bool TierRoom::may_spill(const segment::VersionId& id) const {
  const Version* version = node_.versions.find(id);
  return (version == nullptr || version->pinned_by.empty()) && !redundancy_.promised(id);
}

std::uint64_t TierRoom::count_flushed(std::uint32_t tier) const {
  std::uint64_t count = 0;
  for (const auto& [id, version] : node_.versions) {
    const auto on_tier = version.flushed.find(tier);
    if (on_tier != version.flushed.end() && may_spill(id)) count += on_tier->second.size();
  }
  return count;
}

std::uint64_t TierRoom::chunks_to_spill(const segment::VersionId& id) const {
  const Version* version = node_.versions.find(id);
  return version == nullptr ? 0 : version->chunks_flushed();
}

// Frees one slot of this tier; false if there is none to be had.
bool TierRoom::spill_one(std::uint32_t tier) {
  for (auto& [id, version] : node_.versions) {
    const auto on_tier = version.flushed.find(tier);
    if (on_tier == version.flushed.end() || on_tier->second.empty() || !may_spill(id)) continue;
    const auto [number, flushed] = *on_tier->second.begin();  // copied, since the spill erases it
    const SlotKey slot{tier, number};
    if (auto spilled = spill(segment::VersionId(id), slot, flushed); !spilled) {
      refused_ = spilled.error();
      return false;
    }
    return true;
  }
  return false;
}

base::Status TierRoom::spill(const segment::VersionId& id, SlotKey slot, const Version::Flushed& flushed) {
  const ChunkName name = flushed.name;
  const auto* held = node_.held(id);
  const bool staged = held != nullptr && held->pieces.contains(name.rank);
  if (staged) {
    if (!node_.catalog.state().begun.contains(id)) PERDURE_CHECK(flushes_.note_begun(id, held->segments));
    os::crash_point(os::CrashPoint::spill_before_catalog);
    PERDURE_CHECK(node_.catalog.append(catalog::SpilledRecord{id, name.rank, {{name.chunk, flushed.offset}}}));
    os::crash_point(os::CrashPoint::spill_after_catalog);
    --node_.versions.at(id).chunks[slot.first];
  } else {
    writes_.settle(slot);
  }
  if (OpenCapture* open = captures_.find(id)) {
    if (auto* chunk = open->find(name); chunk != nullptr) {
      chunk->place = catalog::kInTemporarySegment;
      chunk->offset = flushed.offset;
    }
  }
  ++spilled_chunks_;
  node_.release_slot(id, slot);
  return {};
}

}  // namespace perdure::engine
