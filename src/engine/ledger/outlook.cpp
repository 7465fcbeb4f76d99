#include "engine/ledger/outlook.hpp"

#include <algorithm>

namespace perdure::engine {

// Only slots that come without another rank's help count as coming: those of flushes of committed versions, while the
// store works. A rank that waited for another capture's slots could wait for a rank that waits behind it.
bool Outlook::will_be_flushed(const segment::VersionId& id, const Version& version) const {
  return (version.life == Life::committed || captures_.may_be_written_through(id)) && version.life != Life::stored &&
         !node_.store_failing && (version.flush == FlushPhase::queued || version.flush == FlushPhase::running);
}

placement::TierState Outlook::tier(const ipc::Grant& request, std::uint32_t t, EvictionScope sacrifice) const {
  placement::TierState state;
  const tier::Usage usage = node_.tiers[t]->usage();
  std::uint64_t in_use = usage.slots - usage.free_slots;
  for (const auto& [id, held] : node_.catalog.state().versions) {
    const Version* version = node_.versions.find(id);
    if (version == nullptr || version->chunks.size() <= t) continue;
    const std::uint64_t chunks = version->chunks[t];
    if (id != request.id && held_.evictable(held)) in_use -= std::min(in_use, chunks);
    if (!held.all_stored()) state.chunks_unflushed += chunks;
    if (will_be_flushed(id, *version)) state.slots_to_come += chunks;
  }
  for (const auto& [id, version] : node_.versions) {
    if (version.granted.size() <= t || version.granted[t] == 0) continue;
    state.chunks_unflushed += version.granted[t];
    if (captures_.may_be_written_through(id) && !node_.store_failing) state.slots_to_come += version.granted[t];
  }
  const std::uint64_t flushed = room_.count_flushed(t);
  const std::uint64_t obsolete = redundancy_.count_obsolete(t, request.id);
  in_use -= std::min(in_use, flushed + obsolete);
  state.chunks_unflushed -= std::min(state.chunks_unflushed, flushed);
  state.slots_to_come -= std::min(state.slots_to_come, flushed);
  state.slots = std::max(node_.tiers[t]->capacity(request.bytes), usage.slots);
  state.readers = node_.slots.readers(t);
  state.failed = node_.tier_health[t].failed;
  state.model = &node_.observed.models[t];
  const bool avoided = std::find(request.avoid.begin(), request.avoid.end(), t) != request.avoid.end();
  if (avoided) {
    state.failed = true;
    state.slots_to_come = 0;
  } else if (node_.tiers[t]->can_hold(request.bytes) || flushed + obsolete > 0 ||
             choose_eviction(room_.observe(t), {request.id, sacrifice}).what != Eviction::What::nothing) {
    state.free_slots = std::max<std::uint64_t>(state.slots - std::min(state.slots, in_use), 1);
  }
  return state;
}

std::vector<placement::TierState> Outlook::tiers(ClientId client, const ipc::Grant& request, bool last_chance,
                                                 EvictionScope sacrifice) const {
  std::vector<placement::TierState> states;
  for (std::uint32_t t = 0; t < node_.usable_tiers; ++t) {
    states.push_back(tier(request, t, sacrifice));
    states.back().writers = node_.observed.writes.writers(t, client);
    if (last_chance) states.back().slots_to_come = 0;
  }
  return states;
}

placement::FlushOutlook Outlook::flushes() const {
  placement::FlushOutlook state;
  const double now = node_.now_s();
  state.bytes_per_s = node_.flush_meter.plausible_bytes_per_s(now);
  state.sustained_bytes_per_s = node_.flush_meter.plausible_sustained_bytes_per_s(now);
  state.deviation_bytes_per_s = node_.flush_meter.deviation_bytes_per_s();
  state.threads = node_.options.flush_threads;
  state.next_slot_s = node_.flush_meter.next_end_s(now);
  return state;
}

placement::QueueState Outlook::queue(const segment::VersionId& id, std::uint64_t waiting) const {
  return {waiting, std::max(node_.observed.expected.without_slot(id), waiting)};
}

std::vector<double> Outlook::read_bytes_per_s() const {
  std::vector<double> rates;
  for (const auto& model : node_.observed.models) rates.push_back(model.bytes_per_s(node_.options.flush_threads));
  return rates;
}

}  // namespace perdure::engine
