#pragma once
// In which order a segment's chunks are flushed. Plain state, not thread-safe.
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "placement/flush_order.hpp"

namespace perdure::engine {

class FlushSequence {
 public:
  /// `tiers`: where each chunk is, in the order of the segment. `read_bytes_per_s`: what each tier gives to all flushes
  /// together, as far as known.
  FlushSequence(const std::vector<std::uint32_t>& tiers, const std::vector<double>& read_bytes_per_s, unsigned threads)
      : tiers_(tiers), threads_(threads) {
    for (std::size_t chunk = 0; chunk < tiers.size(); ++chunk) {
      while (queues_.size() <= tiers[chunk]) {
        const double rate = queues_.size() < read_bytes_per_s.size() ? read_bytes_per_s[queues_.size()] : 0;
        queues_.push_back({0, 0, rate});
        chunks_.emplace_back();
      }
      ++queues_[tiers[chunk]].pending;
      chunks_[tiers[chunk]].push_back(chunk);
    }
  }

  /// The chunk to flush next, now being flushed; nothing when all are.
  std::optional<std::size_t> next() {
    // Slots become free when the whole version is stored, so that whoever waits for one wants what ends it earliest.
    const auto tier = placement::next_to_flush(queues_, false, threads_);
    if (!tier) return std::nullopt;
    --queues_[*tier].pending;
    ++queues_[*tier].readers;
    const std::size_t chunk = chunks_[*tier].front();
    chunks_[*tier].pop_front();
    return chunk;
  }
  void ended(std::size_t chunk) { --queues_[tiers_[chunk]].readers; }

 private:
  std::vector<std::uint32_t> tiers_;
  std::vector<placement::FlushQueue> queues_;    // by tier
  std::vector<std::deque<std::size_t>> chunks_;  // by tier
  unsigned threads_;
};

}  // namespace perdure::engine
