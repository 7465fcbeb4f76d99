// Simulates the flushes of a node: reads from tiers, and writes to the store.
#include <algorithm>

#include "simulate/node.hpp"

namespace perdure::simulate {

std::optional<std::size_t> Node::next_tier_to_flush() {
  if (order_ == FlushOrder::arrival) {
    if (flushes_.pending.empty()) return std::nullopt;
    const std::size_t tier = flushes_.pending.front();
    flushes_.pending.pop_front();
    return tier;
  }
  std::vector<placement::FlushQueue> queues;
  for (const Tier& tier : tiers_) queues.push_back({tier.pending, tier.state.readers, tier.read_bytes_per_s});
  return placement::next_to_flush(queues, unplaced_ > 0, threads_);
}

void Node::start_flushes(double now_s) {
  const unsigned most = placement::most_under_way(threads_, unplaced_ > 0);
  while (flushes_.reading + flushes_.read.size() < threads_ &&
         flushes_.reading + flushes_.read.size() + flushes_.storing.size() < most) {
    const auto index = next_tier_to_flush();
    if (!index) return;
    Tier& tier = tiers_[*index];
    --tier.pending;
    ++tier.state.readers;
    ++flushes_.reading;
    const auto started = flushes_.rate.started(now_s);
    tier.jobs[tier.device.start(now_s, chunk_bytes_)] = {false, 0, started};
  }
}

void Node::read_done(const device::Completion& completion, std::size_t tier, const Job& job) {
  --tiers_[tier].state.readers;
  --flushes_.reading;
  flushes_.read.push_back({tier, job.flush});
  flushes_.rate.stores(completion.time_s, flushes_.read.back().started);
  start_storing(completion.time_s);
}

void Node::start_storing(double now_s) {
  for (; !flushes_.read.empty() && flushes_.storing.size() < threads_; flushes_.read.pop_front())
    flushes_.storing[store_.start(now_s, chunk_bytes_)] = flushes_.read.front();
}

void Node::stored(const device::Completion& completion) {
  const Flush flush = flushes_.storing.extract(completion.stream).mapped();
  flushes_.rate.finished(completion.time_s, flush.started, chunk_bytes_);
  free_slot(tiers_[flush.tier].state);
  ++stored_;
  outcome_.flush_completion_s = completion.time_s;
  start_storing(completion.time_s);
}

}  // namespace perdure::simulate
