// The flushes of a simulated node: what is read from which tier, and its way into the store.
#include <algorithm>

#include "simulate/node.hpp"

namespace perdure::simulate {

std::optional<std::size_t> Node::next_tier_to_flush() {
  if (order_ == FlushOrder::arrival) {
    if (arrived_.empty()) return std::nullopt;
    const std::size_t tier = arrived_.front();
    arrived_.pop_front();
    return tier;
  }
  std::vector<placement::FlushQueue> queues;
  for (const Tier& tier : tiers_) queues.push_back({tier.pending, tier.state.readers, tier.read_bytes_per_s});
  return placement::next_to_flush(queues, unplaced_ > 0, threads_);
}

void Node::start_flushes(double now_s) {
  const unsigned most = placement::most_under_way(threads_, unplaced_ > 0);
  while (reading_ + read_.size() < threads_ && reading_ + read_.size() + flushes_.size() < most) {
    const auto index = next_tier_to_flush();
    if (!index) return;
    Tier& tier = tiers_[*index];
    --tier.pending;
    ++tier.state.readers;
    ++reading_;
    const auto started = rate_.started(now_s);
    tier.jobs[tier.device.start(now_s, chunk_bytes_)] = {false, 0, started};
  }
}

void Node::read_done(const device::Completion& completion, std::size_t tier, const Job& job) {
  --tiers_[tier].state.readers;
  --reading_;
  read_.push_back({tier, job.flush});
  rate_.stores(completion.time_s, read_.back().started);
  start_storing(completion.time_s);
}

void Node::start_storing(double now_s) {
  for (; !read_.empty() && flushes_.size() < threads_; read_.pop_front())
    flushes_[store_.start(now_s, chunk_bytes_)] = read_.front();
}

void Node::stored(const device::Completion& completion) {
  const Flush flush = flushes_.extract(completion.stream).mapped();
  rate_.finished(completion.time_s, flush.started, chunk_bytes_);
  free_slot(tiers_[flush.tier].state);
  ++stored_;
  outcome_.flush_completion_s = completion.time_s;
  start_storing(completion.time_s);
}

}  // namespace perdure::simulate
