// What a placement policy is shown of this node, and what is learnt from writes and flushes.
#include <algorithm>

#include "engine/ledger/node_state.hpp"
#include "engine/ledger/now.hpp"

namespace perdure::engine {

// Only what comes without anybody's help counts as coming: the flushes of committed versions, while the store works. A
// rank that waited for slots that another capture holds could wait for one that waits behind it.
bool NodeState::will_be_flushed(const segment::VersionId& id, const Version& version) const {
  return (version.life == Life::committed || may_be_flushed_early(id)) && version.life != Life::stored &&
         !store_failing_ && (version.flush == FlushPhase::queued || version.flush == FlushPhase::running);
}

placement::TierState NodeState::observe_tier(const ipc::Grant& request, std::uint32_t t, EvictionScope sacrifice) {
  placement::TierState state;
  const tier::Usage usage = tiers_[t]->usage();
  std::uint64_t in_use = usage.slots - usage.free_slots;
  for (const auto& [id, held] : catalog_.state().versions) {
    const Version* version = versions_.find(id);
    if (version == nullptr || version->chunks.size() <= t) continue;
    const std::uint64_t chunks = version->chunks[t];
    if (id != request.id && evictable(held)) in_use -= std::min(in_use, chunks);
    if (!held.all_stored()) state.chunks_unflushed += chunks;
    if (will_be_flushed(id, *version)) state.slots_to_come += chunks;
  }
  for (const auto& [id, version] : versions_) {
    if (version.granted.size() <= t || version.granted[t] == 0) continue;
    state.chunks_unflushed += version.granted[t];
    if (may_be_flushed_early(id) && !store_failing_) state.slots_to_come += version.granted[t];
  }
  const std::uint64_t flushed = count_flushed(t);
  const std::uint64_t obsolete = count_obsolete(t, request.id);
  in_use -= std::min(in_use, flushed + obsolete);
  state.chunks_unflushed -= std::min(state.chunks_unflushed, flushed);
  state.slots_to_come -= std::min(state.slots_to_come, flushed);
  state.slots = std::max(tiers_[t]->capacity(request.bytes), usage.slots);
  state.readers = slots_.readers(t);
  state.failed = tier_health_[t].failed;
  state.model = &models_[t];
  const bool avoided = std::find(request.avoid.begin(), request.avoid.end(), t) != request.avoid.end();
  if (avoided) {
    state.failed = true;
    state.slots_to_come = 0;
  } else if (tiers_[t]->can_hold(request.bytes) || flushed + obsolete > 0 ||
             choose_eviction(observe_room(t), {request.id, sacrifice}).what != Eviction::What::nothing) {
    state.free_slots = std::max<std::uint64_t>(state.slots - std::min(state.slots, in_use), 1);
  }
  return state;
}

std::vector<placement::TierState> NodeState::observe_tiers(ClientId client, const ipc::Grant& request, bool last_chance,
                                                           EvictionScope sacrifice) {
  std::vector<placement::TierState> states;
  for (std::uint32_t t = 0; t < tiers_.size(); ++t) {
    states.push_back(observe_tier(request, t, sacrifice));
    states.back().writers = writes_.writers(t, client);
    if (last_chance) states.back().slots_to_come = 0;
  }
  return states;
}

placement::FlushOutlook NodeState::observe_flushes() const {
  placement::FlushOutlook state;
  const double now = now_s();
  state.bytes_per_s = flush_rate_.plausible_bytes_per_s(now);
  state.sustained_bytes_per_s = flush_rate_.plausible_sustained_bytes_per_s(now);
  state.deviation_bytes_per_s = flush_rate_.deviation_bytes_per_s();
  state.threads = options_.flush_threads;
  state.next_slot_s = flush_rate_.next_end_s(now);
  return state;
}

placement::QueueState NodeState::observe_queue(const segment::VersionId& id, std::uint64_t waiting) const {
  return {waiting, std::max(expected_.without_slot(id), waiting)};
}

std::vector<double> NodeState::read_bytes_per_s() const {
  std::vector<double> rates;
  for (const auto& model : models_) rates.push_back(model.bytes_per_s(options_.flush_threads));
  return rates;
}

void NodeState::step(ClientId client, double seconds) { interference_.step(client, now_s(), seconds); }

}  // namespace perdure::engine
