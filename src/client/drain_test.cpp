// The end of a handle waits and tells people about it, by a clock that only moves when a rank waits.
#include "client/drain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace perdure::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;

/// A node that has stored everything at `stored_ns`, and whose other nodes have at `others_ns`; retention takes
/// `retention_ns` then.
struct Node {
  std::uint64_t stored_ns = 0, others_ns = 0, retention_ns = 0, now_ns = 0;
  std::string why = {};
  std::uint64_t asked = 0, met = 0;
  std::vector<std::string> said = {};

  base::Result<Left> close(double timeout_s, DrainRoles roles = {true, true, true}) {
    const auto ask = [&](std::uint64_t limit_ns) -> base::Result<Left> {
      ++asked;
      const std::uint64_t until_ns = now_ns < stored_ns || retention_ns == 0 ? stored_ns : now_ns + retention_ns;
      const bool done = limit_ns == 0 || until_ns <= now_ns + limit_ns;
      now_ns = done ? std::max(now_ns, until_ns) : now_ns + limit_ns;
      return now_ns >= stored_ns ? Left{done} : Left{done, 5, 1000, 10, "lulesh versions 1 to 5", why};
    };
    const auto meet = [&](const Left& mine, bool over) -> base::Result<LeftByAll> {
      ++met;
      const bool others = now_ns < others_ns;
      LeftByAll all{(mine.done ? 0U : 1U) + (others ? 3U : 0U), mine.bytes, mine.written, over, mine};
      if (mine.done && others) all.first = {false, 1, 7, 0, "x version 1", ""};
      if (mine.done && others) now_ns = std::min(others_ns, now_ns + kSecond);  // which they take in this round
      return all;
    };
    return drain({ask, meet, [&](const std::string& text) { said.push_back(text); }, [&] { return now_ns; }}, roles,
                 {"/store", timeout_s});
  }
};

TEST(Drain, AStoreThatTakesNothingIsWaitedForNoLongerThanTheLimit) {
  Node node{.stored_ns = 3600 * kSecond, .now_ns = 77};
  node.stored_ns += 77;
  EXPECT_EQ(node.close(300)->versions, 5u);
  EXPECT_EQ(node.now_ns, 77 + 300 * kSecond);
  EXPECT_LT(node.met, 15u);
}

TEST(Drain, ANodeThatEndsAloneHasItsOwnLeftAndNoMore) {
  Left left;
  left.done = false;
  left.versions = 2;
  left.bytes = 4096;
  left.written = 1024;
  left.which = "run versions 1 to 2";
  const LeftByAll waits = left_by_one(left, false), over = left_by_one(left, true);
  EXPECT_EQ(waits.nodes, 1U);
  EXPECT_EQ(waits.bytes, 4096U);
  EXPECT_EQ(waits.written, 1024U);
  EXPECT_EQ(waits.first.which, "run versions 1 to 2");
  EXPECT_FALSE(waits.over);
  EXPECT_TRUE(over.over);
  left.done = true;  // abandoned
  EXPECT_EQ(left_by_one(left, false).nodes, 0U);
}

TEST(Drain, WhatOtherNodesWaitCountsToo) {
  Node slow_others{.stored_ns = 2 * kSecond, .others_ns = 250 * kSecond, .retention_ns = 100 * kSecond};
  ASSERT_TRUE(slow_others.close(300));
  EXPECT_EQ(slow_others.now_ns, 300 * kSecond);
  Node late_others{.stored_ns = 2 * kSecond, .others_ns = 400 * kSecond};
  ASSERT_TRUE(late_others.close(300));
  EXPECT_GE(late_others.now_ns, 300 * kSecond);
  EXPECT_LE(late_others.now_ns, 301 * kSecond) << "their last look may take a second";
}

// The job is suspended for an hour within one look: the time that is left is still waited for.
TEST(Drain, AJobThatIsSuspendedDoesNotWaitMeanwhile) {
  std::uint64_t now_ns = 0, asked_ns = 0;
  unsigned looks = 0;
  const auto ask = [&](std::uint64_t limit_ns) {
    now_ns += limit_ns + (++looks == 5 ? 3600 * kSecond : 0);
    asked_ns += limit_ns;
    return base::Result<Left>(Left{false, 1});
  };
  const auto meet = [](const Left& mine, bool over) -> base::Result<LeftByAll> {
    return LeftByAll{1, 0, 0, over, mine};
  };
  ASSERT_TRUE(
      drain({ask, meet, [](const std::string&) {}, [&] { return now_ns; }}, {true, true, true}, {"/store", 300}));
  EXPECT_GE(asked_ns, 298 * kSecond);
  EXPECT_LE(asked_ns, 300 * kSecond);
}

TEST(Drain, WithoutALimitItWaitsForAsLongAsItTakes) {
  Node node{.stored_ns = 36'000 * kSecond, .retention_ns = 5 * kSecond};
  EXPECT_EQ(node.close(1e9)->versions, 0u);
  EXPECT_EQ(node.now_ns, 36'005 * kSecond);
  Node none{.stored_ns = 36'000 * kSecond};
  EXPECT_EQ(none.close(0)->versions, 5u) << "not to wait at all is a limit, too";
  EXPECT_EQ(none.now_ns, 1u);
}

TEST(Drain, OnlyTheFirstNodeAsksAgainAndOnlyLeadersAskAtAll) {
  Node other, first, follower;
  ASSERT_TRUE(other.close(1, {true, false, false}));
  EXPECT_EQ(other.asked, 1u);
  ASSERT_TRUE(first.close(1));
  EXPECT_EQ(first.asked, 2u);
  EXPECT_EQ(follower.close(1, {false, true, false})->versions, 0u);
  EXPECT_EQ(follower.asked, 0u);
}

TEST(Drain, AnEngineThatDoesNotAnswerIsNotAskedAgainButTheOtherNodesAreWaitedFor) {
  unsigned asked = 0, met = 0;
  const DrainCalls calls{[&](std::uint64_t) -> base::Result<Left> {
                           ++asked;
                           return base::fail(PERDURE_UNAVAILABLE, "engine", "it is gone");
                         },
                         [&](const Left&, bool) -> base::Result<LeftByAll> { return LeftByAll{++met < 3 ? 1U : 0U}; },
                         [](const std::string&) {}, [] { return std::uint64_t{0}; }};
  EXPECT_EQ(drain(calls, {true, true, true}, {"/store", 300}).error().code, PERDURE_UNAVAILABLE);
  EXPECT_EQ(asked, 1u);
  EXPECT_EQ(met, 3u);
}

TEST(Drain, RanksThatCannotMeetAnyMoreDoNotWaitForEachOther) {
  Node node;
  const DrainCalls calls{[](std::uint64_t) {
                           return base::Result<Left>(Left{false, 1});
                         },
                         [](const Left&, bool) -> base::Result<LeftByAll> {
                           return base::fail(PERDURE_PEER_FAILED, "communicator", "it is broken");
                         },
                         [](const std::string&) {}, [] { return std::uint64_t{0}; }};
  EXPECT_EQ(drain(calls, {true, true, true}, {"/store", 300})->versions, 1u);
}

TEST(Drain, AFailingStoreIsToldAtOnceAndHowItGoesOnEverLessOften) {
  Node node{.stored_ns = 20 * kSecond, .why = "lulesh version 1: no space"};
  ASSERT_TRUE(node.close(300));
  EXPECT_THAT(node.said,
              ElementsAre("closing waits for at most 300 s (engine.drain_timeout) until the store /store has what is "
                          "left: 5 checkpoints (lulesh versions 1 to 5, 1000 B, 10 B of it written), because: lulesh "
                          "version 1: no space",
                          HasSubstr("closing has waited 1 s of at most 300 s (engine.drain_timeout); left: 5 "),
                          HasSubstr("waited 2 s"), HasSubstr("waited 4 s"), HasSubstr("waited 8 s"),
                          HasSubstr("waited 16 s"), "closing waited 20 s, until nothing was under way any more"));
}

TEST(Drain, AStoreThatWorksIsToldAfterASecondOnly) {
  Node quick{.stored_ns = kSecond / 2}, slow{.stored_ns = 2 * kSecond};
  ASSERT_TRUE(quick.close(300));
  EXPECT_THAT(quick.said, ElementsAre());
  ASSERT_TRUE(slow.close(1e9));
  EXPECT_THAT(slow.said, ElementsAre("closing waits until the store /store has what is left: 5 checkpoints (lulesh "
                                     "versions 1 to 5, 1000 B, 10 B of it written)",
                                     "closing waited 2 s, until nothing was under way any more"));
}

TEST(Drain, OneRankSpeaksForAllNodes) {
  Node others{.others_ns = 3 * kSecond};
  ASSERT_TRUE(others.close(300));
  ASSERT_FALSE(others.said.empty());
  EXPECT_THAT(others.said.front(), HasSubstr("1 checkpoint (x version 1, 0 B on 3 nodes)"));
  Node silent{.others_ns = 3 * kSecond};
  ASSERT_TRUE(silent.close(300, {true, true, false}));
  EXPECT_THAT(silent.said, ElementsAre());
}

TEST(Drain, WhatIsLeftIsToldWithItsSizeReasonPlaceAndRemedy) {
  const Left five{false, 5, 6 << 20, 0, "lulesh versions 20 to 60", "lulesh version 60: no space"};
  EXPECT_EQ(
      left_behind(five, {"/store", 300}, "/node/x.0").text(),
      "/store: 5 checkpoints (lulesh versions 20 to 60, 6.0 MiB) did not reach the store within "
      "engine.drain_timeout, 300 s, because: lulesh version 60: no space; they are kept on this node in "
      "/node/x.0 (unavailable); remove that cause and start the program again on the same nodes with the same job, "
      "which flushes them");
  const Left given_up{true, 2, 1 << 20, 0, "lulesh versions 20 to 30", "lulesh version 30: it is not writable"};
  EXPECT_EQ(left_behind(given_up, {"/store", 300}, "/node").cause,
            "2 checkpoints (lulesh versions 20 to 30, 1.0 MiB) were given up, and did not reach the store, because: "
            "lulesh version 30: it is not writable; they are kept on this node in /node")
      << "the time was not over";
  EXPECT_THAT(left_behind({true, 1, 0, 0, "run version 3", ""}, {"/store", 300}, "/node").cause,
              HasSubstr("1 checkpoint (run version 3, 0 B) was given up, and did not reach the store;"));
  EXPECT_EQ(left_behind({false, 1, 0, 0, "", ""}, {"/store", 0}, "/node").cause,
            "1 checkpoint (0 B) did not reach the store; they are kept on this node in /node");
  EXPECT_THAT(left_behind({false, 1, 0, 0, "", ""}, {"/store", 0}, "/node").remedy, HasSubstr("mend the store"));
}

}  // namespace
}  // namespace perdure::client
