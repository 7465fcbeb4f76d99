#include "engine/pipeline/passages.hpp"

#include <gtest/gtest.h>

namespace perdure::engine {
namespace {

using Place = Passages::Place;

const Place kReplicates{Level::process, Level::node}, kFlushes{Level::process, Level::store}, kRetires{Level::store},
    kAddedAtOnce{Level::process, {}, true}, kAddedAtNode{Level::node, {}, true}, kAddedAtStore{Level::store, {}, true};

class PassagesTest : public ::testing::Test {
 protected:
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {version, 1}}; }
  void make(std::vector<Place> places, std::size_t most_waiting = 8) {
    passages.emplace(std::move(places), most_waiting);
  }
  void enter(std::uint64_t version) {
    passages->enter({id(version)});
    reached(version, Level::process);
  }
  /// Returns the notifications of the engine's own steps, as "step:version".
  std::string reached(std::uint64_t version, Level level) { return text(passages->reached(id(version), level)); }
  std::string done(std::size_t step, std::uint64_t version) { return text(passages->done(step, id(version))); }
  static std::string text(const Passages::Notifications& all) {
    std::string text;
    for (const auto& [step, version] : all)
      text += (text.empty() ? "" : " ") + std::to_string(step) + ":" + std::to_string(version.id.version);
    return text;
  }
  std::uint64_t next(std::size_t step) {
    const auto version = passages->next(step);
    return version ? version->id.version : 0;
  }
  std::optional<Passages> passages;
};

TEST_F(PassagesTest, RetirementIsToldOfWhatIsStoredAndNothingIsLeft) {
  make({kReplicates, kFlushes, kRetires});
  enter(1);
  EXPECT_EQ(reached(1, Level::node), "");
  EXPECT_EQ(reached(1, Level::store), "2:1");
  EXPECT_FALSE(passages->knows(id(1)));
  EXPECT_EQ(reached(1, Level::store), "2:1") << "more of it was stored later";
  EXPECT_FALSE(passages->knows(id(1)));
}

TEST_F(PassagesTest, AnAddedStepTakesAVersionAtItsLevelAndInItsPlace) {
  make({kReplicates, kAddedAtNode, kFlushes, kAddedAtStore});
  enter(1);
  EXPECT_EQ(next(1), 0u);
  reached(1, Level::node);
  EXPECT_EQ(next(3), 0u);
  EXPECT_EQ(next(1), 1u);
  EXPECT_EQ(next(1), 0u) << "it is under way";
  done(1, 1);
  EXPECT_EQ(next(3), 0u);
  reached(1, Level::store);
  EXPECT_EQ(next(3), 1u);
  done(3, 1);
  EXPECT_FALSE(passages->knows(id(1)));
}

TEST_F(PassagesTest, WhatStandsBehindALevelWaitsForItThoughItNeedsLess) {
  make({kFlushes, kAddedAtOnce});
  enter(1);
  EXPECT_EQ(next(1), 0u);
  reached(1, Level::store);
  EXPECT_EQ(next(1), 1u);
}

TEST_F(PassagesTest, AStepThatIsOffIsPassedAndTheStoreStandsForLevelNode) {
  Place off = kReplicates;
  off.off = true;
  make({off, kAddedAtOnce, kAddedAtNode, kFlushes});
  enter(1);
  EXPECT_EQ(next(1), 1u);
  done(1, 1);
  EXPECT_EQ(next(2), 0u);
  reached(1, Level::store);
  EXPECT_EQ(next(2), 1u);
}

TEST_F(PassagesTest, RetirementWaitsForAnAddedStepBeforeItAndForNoneBehindIt) {
  make({kFlushes, kAddedAtStore, kRetires, kAddedAtStore});
  enter(1);
  EXPECT_EQ(reached(1, Level::store), "");
  EXPECT_EQ(next(1), 1u);
  EXPECT_EQ(done(1, 1), "2:1");
  EXPECT_EQ(next(3), 1u);
}

TEST_F(PassagesTest, AVersionThatIsUnderWayKeepsNoOtherFromOtherSteps) {
  make({kAddedAtOnce, kFlushes, kRetires, kAddedAtStore});
  enter(1);
  enter(2);
  EXPECT_EQ(next(0), 1u);
  EXPECT_EQ(next(0), 2u) << "its thread asks when it is done";
  EXPECT_EQ(done(0, 2), "");
  EXPECT_EQ(reached(1, Level::store), "") << "it is in the first step";
  EXPECT_EQ(reached(2, Level::store), "2:2");
  EXPECT_EQ(next(3), 2u);
}

TEST_F(PassagesTest, TheOldestGoOnWhenTooManyWait) {
  make({kFlushes, kAddedAtStore, kRetires}, 2);
  for (std::uint64_t version = 1; version <= 4; ++version) enter(version);
  reached(1, Level::store);
  EXPECT_EQ(next(1), 1u);
  EXPECT_EQ(reached(2, Level::store), "");
  EXPECT_EQ(reached(3, Level::store), "");
  EXPECT_EQ(passages->waiting(1), 2u);
  EXPECT_EQ(reached(4, Level::store), "2:2") << "the oldest that waits, not the one under way";
  EXPECT_EQ(passages->left_out(1), 1u);
  EXPECT_EQ(passages->waiting(1), 2u);
  EXPECT_EQ(done(1, 1), "2:1");
  EXPECT_EQ(next(1), 3u);
}

TEST_F(PassagesTest, WhatAnEarlierEngineCommittedIsToldOfLevelsThatItReachesNow) {
  make({kAddedAtOnce, kFlushes, kRetires, kAddedAtStore});
  passages->resume({id(1)});
  EXPECT_EQ(next(0), 0u) << "it had level process before";
  EXPECT_EQ(reached(1, Level::store), "2:1");
  EXPECT_EQ(next(3), 1u);
  done(3, 1);
  EXPECT_EQ(reached(2, Level::store), "2:2");
  EXPECT_EQ(next(3), 0u) << "it was through";
}

TEST_F(PassagesTest, WhatWillNotReachItsLevelIsForgotten) {
  make({kAddedAtOnce, kFlushes, kAddedAtStore});
  enter(1);
  enter(2);
  EXPECT_EQ(next(0), 1u);
  passages->gone(id(1));
  passages->gone(id(2));
  EXPECT_TRUE(passages->knows(id(1))) << "it is under way";
  EXPECT_FALSE(passages->knows(id(2)));
  done(0, 1);
  passages->gone(id(1));
  EXPECT_FALSE(passages->knows(id(1)));
}

TEST_F(PassagesTest, AreIdleWhenNoAddedStepHasAnything) {
  make({kFlushes, kAddedAtStore});
  EXPECT_TRUE(passages->idle());
  enter(1);
  EXPECT_TRUE(passages->idle()) << "it waits for the flush";
  reached(1, Level::store);
  EXPECT_FALSE(passages->idle());
  EXPECT_EQ(next(1), 1u);
  EXPECT_FALSE(passages->idle());
  done(1, 1);
  EXPECT_TRUE(passages->idle());
}

}  // namespace
}  // namespace perdure::engine
