// Groups skip different attempts: level node is that of the whole job, and there is always one that all groups will
// have.
#include "client/node_levels.hpp"

#include <gmock/gmock.h>

#include <random>

namespace perdure::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class OfTwoGroups : public testing::Test {
 protected:
  /// Goes on to these attempts.
  void go(const std::vector<std::uint64_t>& attempts) {
    for (const auto ns : attempts) levels.current("app", ns);
  }
  /// Makes an agreement in which the groups promise these.
  std::optional<NodeLevelNews> agree(const std::vector<std::uint64_t>& one, const std::vector<std::uint64_t>& other) {
    return levels.promised("app", levels.bits("app", one) & levels.bits("app", other));
  }
  std::vector<std::uint64_t> everywhere(std::uint64_t up_to = 100) const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t ns = 1; ns <= up_to; ++ns)
      if (levels.everywhere("app", ns)) all.push_back(ns);
    return all;
  }
  NodeLevels levels;
};

TEST_F(OfTwoGroups, ThatSkipDifferentOnesOnlyWhatBothHaveIsAtTheLevel) {
  go({5, 6, 7});
  const auto news = agree({5, 7}, {5, 6});
  EXPECT_THAT(everywhere(), ElementsAre(5));
  ASSERT_TRUE(news);
  EXPECT_EQ(news->attempt_ns, 5U) << "the least of the newest would be 6, which one of them does not have";
}

TEST_F(OfTwoGroups, WithNothingInCommonNothingIsSuperseded) {
  go({5, 6});
  const auto news = agree({5}, {6});
  EXPECT_THAT(everywhere(), IsEmpty());
  ASSERT_TRUE(news);
  EXPECT_EQ(news->attempt_ns, 0U);
}

TEST_F(OfTwoGroups, WhatAnEngineMayGiveUpFromNowOnIsNotAtTheLevelAnyMore) {
  go({1, 2});
  (void)agree({1}, {1});
  EXPECT_THAT(everywhere(), ElementsAre(1));
  const auto news = agree({1, 2}, {1, 2});
  EXPECT_THAT(everywhere(), ElementsAre(2));
  ASSERT_TRUE(news);
  EXPECT_EQ(*news, (NodeLevelNews{2, {}}));
}

TEST_F(OfTwoGroups, WhatOneOfThemHasLostSinceIsNotThereAnyMore) {
  go({1});
  (void)agree({1}, {1});
  (void)agree({1}, {});
  EXPECT_THAT(everywhere(), IsEmpty());
  (void)agree({1}, {1});
  EXPECT_THAT(everywhere(), ElementsAre(1));
}

TEST_F(OfTwoGroups, WhatWasSaidBeforeIsNotSaidAgain) {
  go({1});
  EXPECT_TRUE(agree({1}, {1}));
  EXPECT_FALSE(agree({1}, {1}));
}

// The clock says that 1 is older than 3; the application says otherwise.
TEST_F(OfTwoGroups, AnOlderOneThatTheApplicationWentBackToIsTheNewest) {
  go({1, 2, 3});
  (void)agree({2, 3}, {2, 3});
  levels.current("app", 1);
  const auto both = agree({1, 3}, {1, 3});
  EXPECT_THAT(everywhere(), ElementsAre(1));
  ASSERT_TRUE(both);
  EXPECT_EQ(*both, (NodeLevelNews{3, {1}})) << "3 is of a branch that was left";
}

TEST_F(OfTwoGroups, BeforeThatOneIsThereTheNewerOneStaysAndBringsItNoHarm) {
  go({1, 2, 3});
  levels.current("app", 1);
  const auto news = agree({3}, {3});
  EXPECT_THAT(everywhere(), ElementsAre(3));
  ASSERT_TRUE(news);
  EXPECT_EQ(*news, (NodeLevelNews{3, {1}}));
}

TEST_F(OfTwoGroups, WhatIsWaitedForStaysBesideTheNewestUntilANewerOneIsThere) {
  go({1, 2});
  (void)agree({1, 2}, {1, 2});
  (void)levels.promised_one("app", 1);
  EXPECT_THAT(everywhere(), ElementsAre(1, 2));
  (void)agree({1, 2}, {1, 2});
  EXPECT_THAT(everywhere(), ElementsAre(1, 2));
  go({3});
  const auto news = agree({1, 2, 3}, {1, 2, 3});
  EXPECT_THAT(everywhere(), ElementsAre(3));
  EXPECT_EQ(*news, (NodeLevelNews{3, {}}));
}

TEST_F(OfTwoGroups, OfAnEarlierLaunchOneIsSpokenOfWhenItIsWaitedFor) {
  go({7});
  const auto news = levels.promised_one("app", 3);
  EXPECT_THAT(everywhere(), ElementsAre(3));
  EXPECT_EQ(*news, (NodeLevelNews{3, {}}));
  EXPECT_EQ(levels.bits("app", {7}), 2U);
}

TEST_F(OfTwoGroups, NewGroupsHaveNothing) {
  go({1});
  (void)agree({1}, {1});
  levels.clear();
  EXPECT_THAT(everywhere(), IsEmpty());
  EXPECT_EQ(levels.bits("app", {1}), 0U);
}

TEST_F(OfTwoGroups, ListsThatDifferTellSo) {
  go({1, 2});
  NodeLevels other;
  other.current("app", 1);
  EXPECT_NE(levels.list_hash("app"), other.list_hash("app"));
  other.current("app", 2);
  EXPECT_EQ(levels.list_hash("app"), other.list_hash("app"));
  EXPECT_NE(levels.list_hash("app"), levels.list_hash("other"));
}

TEST_F(OfTwoGroups, TheListIsBoundedAndKeepsWhatIsAtTheLevel) {
  go({1});
  (void)agree({1}, {1});
  for (std::uint64_t ns = 2; ns <= 200; ++ns) go({ns});
  EXPECT_NE(levels.bits("app", {1}), 0U);
  EXPECT_EQ(levels.bits("app", {100}), 0U);
  EXPECT_NE(levels.bits("app", {200}), 0U);
  const auto news = agree({1}, {1});
  EXPECT_LE(news ? news->keep.size() : 0, 64U);
  EXPECT_THAT(everywhere(), ElementsAre(1));
}

TEST_F(OfTwoGroups, OneIsWantedOfAllUntilItIsThereOrHopeless) {
  go({1, 2});
  EXPECT_EQ(agree({1}, {}), (NodeLevelNews{0, {2}}));
  go({3});
  EXPECT_FALSE(agree({1}, {})) << "2 is still wanted";
  go({4});
  EXPECT_EQ(agree({2, 3}, {2, 4}), (NodeLevelNews{2, {4}}));
  for (std::uint64_t ns = 5; ns <= 11; ++ns) {
    go({ns});
    EXPECT_FALSE(agree({2}, {2})) << ns;
  }
  go({12});
  EXPECT_EQ(agree({2}, {2}), (NodeLevelNews{2, {12}})) << "the capture of 4 may have failed";
}

/// A group that brings attempts to the level more slowly than they come. It takes the newest first, but a wanted one
/// before that. It skips attempts when a newer one is there, unless they are wanted.
class SlowGroup {
 public:
  explicit SlowGroup(std::uint64_t seed) : random_(seed) {}
  void begin(std::uint64_t ns) { waiting_.insert(ns); }
  void hear(const NodeLevelNews& news) {
    wanted_ = {news.keep.begin(), news.keep.end()};
    const auto goes = [&](auto ns) { return ns < news.attempt_ns && !wanted_.contains(ns); };
    std::erase_if(kept_, goes);
    std::erase_if(waiting_, goes);
  }
  void work() {
    if (waiting_.empty() || random_() % 3 != 0) return;
    auto next = std::prev(waiting_.end());
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it)
      if (wanted_.contains(*it)) next = it;
    const std::uint64_t reached = *next;
    kept_.insert(reached);
    std::erase_if(waiting_, [&](auto ns) { return ns == reached || (ns < reached && !wanted_.contains(ns)); });
  }
  std::vector<std::uint64_t> promised() const { return {kept_.begin(), kept_.end()}; }
  bool keeps(std::uint64_t ns) const { return kept_.contains(ns); }

 private:
  std::mt19937_64 random_;
  std::set<std::uint64_t> waiting_, kept_, wanted_;
};

// Checkpoints that come faster than any group can follow.
TEST(NodeLevelsOfManyGroups, NeverSayTooMuchAndAlwaysGetFurther) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    NodeLevels levels;
    std::vector<SlowGroup> groups;
    for (std::uint64_t g = 0; g < 2 + random() % 5; ++g) groups.emplace_back(random());
    std::uint64_t newest = 0, last_progress = 0;
    for (std::uint64_t ns = 1; ns <= 300; ++ns) {
      std::uint64_t bits = ~std::uint64_t{0};
      for (const auto& group : groups) bits &= levels.bits("app", group.promised());
      const auto news = levels.promised("app", bits);
      levels.current("app", ns);
      for (auto& group : groups) {
        if (news) group.hear(*news);
        group.begin(ns);
        group.work();
      }
      for (std::uint64_t past = 1; past <= ns; ++past) {
        if (!levels.everywhere("app", past)) continue;
        for (const auto& group : groups) ASSERT_TRUE(group.keeps(past)) << past << " at " << ns;
        if (past > newest) newest = past, last_progress = ns;
      }
      ASSERT_LT(ns - last_progress, 100U) << "nothing new is at the level";
    }
  }
}

}  // namespace
}  // namespace perdure::client
