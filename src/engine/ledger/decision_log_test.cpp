#include "engine/ledger/decision_log.hpp"

#include <gtest/gtest.h>

namespace perdure::engine {
namespace {

NotedDecision on(std::optional<std::size_t> tier) {
  NotedDecision noted;
  noted.decision.tier = tier;
  noted.decision.reason = tier ? placement::Reason::fastest : placement::Reason::wait_full;
  return noted;
}

TEST(DecisionLog, CountsWhatEachTierTookAndNoWaits) {
  DecisionLog log;
  EXPECT_EQ(log.placed(0), 0u);
  for (unsigned i = 0; i < 2 * DecisionLog::kKept; ++i) log.note(on(i % 4 == 0 ? 0 : 1));
  log.note(on(std::nullopt));
  log.note(on(std::nullopt));
  EXPECT_EQ(log.placed(0), DecisionLog::kKept / 2) << "more than it keeps";
  EXPECT_EQ(log.placed(1), 3 * DecisionLog::kKept / 2);
  EXPECT_EQ(log.placed(2), 0u);
}

}  // namespace
}  // namespace perdure::engine
