#pragma once
// Logs placement decisions: how often each reason and tier occurred, and the most recent decisions. Bounded. Not
// thread-safe.
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
  std::uint64_t times = 1;  ///< how often in a row; a waiting rank is decided on again after every change
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
  /// Counts each wait once, however often it was decided again.
  const std::map<placement::Reason, std::uint64_t>& counts() const { return counts_; }
  /// Counts the chunks that got a slot on this tier since the engine began, including those written again elsewhere.
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
