#pragma once
// Why slots were given where they were: how often for each reason and on each tier, and the last decisions. Bounded.
// Not thread-safe.
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "placement/decision.hpp"
#include "segment/manifest.hpp"

namespace perdure::engine {

struct NotedDecision {
  std::uint64_t wall_ns = 0;
  std::uint64_t client = 0;
  std::uint32_t rank = 0;
  segment::VersionId id;
  placement::Decision decision;
  std::uint64_t times = 1;  ///< so often in a row: who waits is decided about again whenever something changed
};

class DecisionLog {
 public:
  static constexpr std::size_t kKept = 64;

  void note(NotedDecision noted) {
    if (!recent_.empty() && repeats(noted, recent_.back())) {
      noted.times = recent_.back().times + 1;
      recent_.back() = std::move(noted);
      return;
    }
    ++counts_[noted.decision.reason];
    if (noted.decision.tier) ++placed_[*noted.decision.tier];
    recent_.push_back(std::move(noted));
    if (recent_.size() > kKept) recent_.pop_front();
  }
  /// Each wait once, however often it was looked at.
  const std::map<placement::Reason, std::uint64_t>& counts() const { return counts_; }
  /// Chunks that got a slot on this tier since the engine began, those written again elsewhere included.
  std::uint64_t placed(std::size_t tier) const {
    const auto found = placed_.find(tier);
    return found == placed_.end() ? 0 : found->second;
  }
  const std::deque<NotedDecision>& recent() const { return recent_; }  ///< the oldest first

 private:
  static bool repeats(const NotedDecision& a, const NotedDecision& b) {
    return !a.decision.tier && a.client == b.client && a.id == b.id && a.decision.reason == b.decision.reason;
  }
  std::map<placement::Reason, std::uint64_t> counts_;
  std::map<std::size_t, std::uint64_t> placed_;  // by tier
  std::deque<NotedDecision> recent_;
};

}  // namespace perdure::engine
