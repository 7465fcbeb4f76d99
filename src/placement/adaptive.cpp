// Our own policy minimises the predicted end of the whole checkpoint, first in the store, then on the tiers.
//
// The fastest tier is filled first. When it is full, a producer can wait until a flush frees a slot there, or take a
// slower tier now. It takes the slower tier if all of these hold; Algorithm 2 of VeloC IPDPS'19 lacks each of them:
// 1. The tier is below its sweet spot: the fewest writers with which it is about as fast as it gets. Producers behind
//    in the queue count: a tier that is poor with one writer and good with sixteen is judged by sixteen. Nobody joins
//    if more writers would only slow down the present ones.
// 2. Nobody gets trapped: the write ends before flushes would have made room for all chunks still to come. For this,
//    flushes are assumed slower than average by their usual deviation.
// 3. The flushes do not starve. While this producer is away, others fill the fastest tier, or its content suffices to
//    keep all flush threads busy.
// 4. The store has everything hardly later. A tier may read more slowly than the store writes. Its backlog is flushed
//    while the store still has content of the fastest tier to take, or nearly so (backlog.hpp).
#include <algorithm>

#include "placement/backlog.hpp"
#include "placement/choices.hpp"
#include "placement/registry.hpp"

namespace perdure::placement {
namespace {

/// Counts at most the present writers and the waiting producers. Flushes that read do not count: they slow down writes,
/// but fewer writers would leave them a larger part.
SweetSpot sweet_spot(const View& view, const TierState& tier) {
  return tier.model->sweet_spot(tier.writers + view.queue.waiting);
}

/// Returns the tier worth waiting for: the fastest of those that have room or will have it.
std::optional<std::size_t> fastest_to_be(const View& view) {
  std::optional<std::size_t> best;
  double best_rate = 0;
  for (std::size_t i = 0; i < view.tiers.size(); ++i) {
    const TierState& tier = view.tiers[i];
    if (tier.failed || tier.free_slots + tier.slots_to_come == 0) continue;
    const double rate = sweet_spot(view, tier).bytes_per_s;
    if (!best || rate > best_rate) {
      best = i;
      best_rate = rate;
    }
  }
  return best;
}

// Returns the rate at which flushes can read the tier. A model of writes stands for reads, which are no slower as far
// as we know.
double read_bytes_per_s(const View& view, const TierState& tier) {
  return tier.model->sweet_spot(view.flush.threads).bytes_per_s;
}

bool flushes_would_starve(const View& view, const TierState& tier, const TierState& top, double write_s) {
  const double flush = view.flush.bytes_per_s;
  if (read_bytes_per_s(view, tier) >= flush) return false;  // chunks written here keep them busy, too
  const std::uint64_t feeders = view.queue.waiting - std::min<std::uint64_t>(view.queue.waiting, 1) + top.writers;
  const auto count = static_cast<unsigned>(std::min<std::uint64_t>(feeders, kMaxModelledWriters));
  if (count > 0 && top.model->bytes_per_s(count) >= flush) return false;
  const std::uint64_t keep = std::min<std::uint64_t>(view.flush.threads, top.slots / 2);
  const auto spare = static_cast<double>(top.chunks_unflushed - std::min(top.chunks_unflushed, keep));
  return write_s > spare * static_cast<double>(view.chunk_bytes) / flush;
}

/// Takes this slower tier, or says why not.
Decision judge(const View& view, std::size_t index, const TierState& top) {
  const TierState& tier = view.tiers[index];
  const SweetSpot sweet = sweet_spot(view, tier);
  const auto chunk_bytes = static_cast<double>(view.chunk_bytes);
  const unsigned soon = std::max(sweet.writers, tier.writers + 1);
  Decision decision = take(view, index, Reason::helps_meanwhile);
  decision.tier_bytes_per_s = tier.model->bytes_per_s(soon);
  decision.write_s = chunk_bytes * soon / decision.tier_bytes_per_s;
  if (tier.writers >= sweet.writers) {
    decision.reason = Reason::wait_saturated;
    return decision;
  }
  const FlushOutlook& flush = view.flush;
  if (flush.bytes_per_s <= 0) return decision;  // nothing known yet: up to the sweet spot nobody is trapped for long
  const double cautious = std::max(flush.bytes_per_s - flush.deviation_bytes_per_s, flush.bytes_per_s / 4);
  const auto to_come = static_cast<double>(std::max(view.queue.chunks_to_come, view.queue.waiting));
  decision.rest_s = std::max(to_come * chunk_bytes / cautious, flush.next_slot_s);
  if (decision.write_s > decision.rest_s || flushes_would_starve(view, tier, top, decision.write_s))
    decision.reason = Reason::wait_flush_faster;
  else if (!worth_it(backlog(view, tier, top, tier.chunks_unflushed + 1)))
    decision.reason = Reason::wait_backlog;
  return decision;
}

}  // namespace

Decision decide_adaptive(const View& view) {
  const auto top = fastest_to_be(view);
  Decision why{std::nullopt, Reason::wait_full, 0, view.flush.bytes_per_s, 0, 0};
  if (!top) return wait_or_take_any(view, why);
  if (view.tiers[*top].free_slots > 0) return take(view, *top, Reason::fastest);
  for (std::size_t i = 0; i < view.tiers.size(); ++i) {
    if (!usable(view.tiers[i])) continue;
    const Decision decision = judge(view, i, view.tiers[*top]);
    if (!is_wait(decision.reason)) return decision;
    if (why.reason == Reason::wait_full) why = decision;
  }
  return wait_or_take_any(view, why);
}

}  // namespace perdure::placement
