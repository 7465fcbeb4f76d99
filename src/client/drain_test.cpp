// How long the end of a handle waits, by a clock that only moves when somebody waits.
#include "client/drain.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace perdure::client {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

/// A node whose engine needs `takes_ns` for each answer, and whose other nodes keep it waiting for `others_ns`.
struct Node {
  std::uint64_t takes_ns = 0, others_ns = 0, now_ns = 77;
  std::vector<std::uint64_t> asked_ns = {};
  std::uint64_t left = 0;

  base::Result<Left> close(std::uint64_t timeout_ns, DrainRoles roles = {true, true}) {
    const DrainCalls calls{[&](std::uint64_t limit_ns) -> base::Result<Left> {
                             asked_ns.push_back(limit_ns);
                             now_ns += limit_ns == 0 ? takes_ns : std::min(takes_ns, limit_ns);
                             return Left{left, 10, "full"};
                           },
                           [&] { now_ns += others_ns; }, [&] { return now_ns; }};
    return drain(calls, roles, timeout_ns);
  }
};

TEST(Drain, AStoreThatTakesNothingIsWaitedForOnce) {
  Node node{3600 * kSecond};
  node.left = 5;
  EXPECT_EQ(node.close(300 * kSecond)->versions, 5u);
  EXPECT_EQ(node.asked_ns, (std::vector<std::uint64_t>{300 * kSecond, 1}));
  EXPECT_EQ(node.now_ns, 77 + 300 * kSecond + 1);
}

TEST(Drain, WhatOtherNodesWaitCountsToo) {
  Node slow_others{2 * kSecond, 250 * kSecond}, late_others{2 * kSecond, 400 * kSecond};
  ASSERT_TRUE(slow_others.close(300 * kSecond));
  EXPECT_EQ(slow_others.asked_ns, (std::vector<std::uint64_t>{300 * kSecond, 48 * kSecond}));
  ASSERT_TRUE(late_others.close(300 * kSecond));
  EXPECT_EQ(late_others.asked_ns, (std::vector<std::uint64_t>{300 * kSecond, 1}));
}

TEST(Drain, WithoutALimitItWaitsForEverBothTimes) {
  Node node{3600 * kSecond};
  ASSERT_TRUE(node.close(0));
  EXPECT_EQ(node.asked_ns, (std::vector<std::uint64_t>{0, 0}));
}

TEST(Drain, OnlyTheFirstNodeAsksAgainAndOnlyLeadersAskAtAll) {
  Node other, follower;
  ASSERT_TRUE(other.close(kSecond, {true, false}));
  EXPECT_EQ(other.asked_ns.size(), 1u);
  EXPECT_EQ(follower.close(kSecond, {false, true})->versions, 0u);
  EXPECT_TRUE(follower.asked_ns.empty());
}

TEST(Drain, AnEngineThatDoesNotAnswerIsNotAskedAgainButTheOtherNodesAreMet) {
  int asked = 0, met = 0;
  const DrainCalls calls{[&](std::uint64_t) -> base::Result<Left> {
                           ++asked;
                           return base::fail(PERDURE_UNAVAILABLE, "engine", "it is gone");
                         },
                         [&] { ++met; }, [] { return std::uint64_t{0}; }};
  EXPECT_EQ(drain(calls, {true, true}, kSecond).error().code, PERDURE_UNAVAILABLE);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(met, 1);
}

TEST(Drain, WhatIsLeftIsToldWithItsSizeReasonPlaceAndRemedy) {
  const std::string text = left_behind({5, 6 << 20, "lulesh version 60: no space"}, "/store", "/node/x.0", 300).text();
  EXPECT_EQ(
      text,
      "/store: 5 checkpoints (6.0 MiB) did not reach the store within engine.drain_timeout, 300 s, because: lulesh "
      "version 60: no space; they are kept on this node in /node/x.0 (unavailable); mend the store and start the "
      "program again on the same nodes with the same job, which flushes them");
  EXPECT_EQ(left_behind({1, 0, ""}, "/store", "/node", 0).cause,
            "1 checkpoint (0 B) did not reach the store; they are kept on this node in /node");
}

}  // namespace
}  // namespace perdure::client
