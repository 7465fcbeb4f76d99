#include "engine/serve/skipped_versions.hpp"

#include <gmock/gmock.h>

#include "engine/ledger/node_state_testing.hpp"
#include "engine/ledger/on_their_way.hpp"

namespace perdure::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using SkipState = SkippedVersions::Outcome::State;

class SkipVersions : public NodeStateFixture {
 protected:
  void begin(plan::RetentionPolicy retention = {2, 0}) {
    NodeStateOptions options;
    options.retention = retention;
    open({16}, std::move(options));
    skipped = {};
    skipped.leave_recovered(*core);
  }
  /// Commits the versions one after the other. Returns the numbers of those that were skipped meanwhile.
  std::vector<std::uint64_t> commit(const std::vector<std::uint64_t>& versions) {
    std::vector<std::uint64_t> numbers;
    for (const std::uint64_t version : versions) {
      EXPECT_TRUE(checkpoint(version));
      for (const auto& id : skipped.skip(*core, "app")) numbers.push_back(id.version);
    }
    return numbers;
  }
  std::vector<std::uint64_t> held() const {
    std::vector<std::uint64_t> numbers;
    for (const auto& [id, version] : core->versions()) numbers.push_back(id.version);
    return numbers;
  }
  SkipState state_of(std::uint64_t version) const { return skipped.outcome(*core, id(version)).state; }

  SkippedVersions skipped;
};

TEST_F(SkipVersions, ThatRetentionWouldRemoveAreGivenUp) {
  begin();
  EXPECT_THAT(commit({1, 2, 3, 4, 5}), ElementsAre(1, 2, 3));
  EXPECT_THAT(held(), ElementsAre(4, 5));
  EXPECT_EQ(used(0), 2u) << "their slots are free";
  EXPECT_EQ(core->counters().skipped, 3u);
  open({16});
  EXPECT_THAT(held(), ElementsAre(4, 5)) << "the catalog says so";
}

// However fast versions come, some get there: the store has a new one each time that a flush ends.
TEST_F(SkipVersions, AFlushThatHasBegunIsFinishedAndTheNextOneIsOfANewVersion) {
  begin();
  std::uint64_t version = 0, last = 0;
  for (int flushes = 0; flushes < 5; ++flushes) {
    for (int i = 0; i < 10; ++i) commit({++version});
    const auto next = core->flushes.next();
    ASSERT_TRUE(next);
    EXPECT_GT(next->version, last);
    EXPECT_GE(next->version, version - 2) << "what waits is what retention keeps";
    for (int i = 0; i < 10; ++i) commit({++version});
    EXPECT_THAT(held(), testing::Contains(next->version)) << "it is being flushed";
    store(next->version);
    ASSERT_TRUE(core->flushes.forget_old("app", 2));
    last = next->version;
    EXPECT_LE(held().size(), 5u);
  }
}

TEST_F(SkipVersions, ThatSomebodyWaitsForOrThatAreLandmarksAreNotSkipped) {
  begin({1, 4});
  ASSERT_THAT(commit({1}), IsEmpty());
  skipped.awaited(7, id(1));
  EXPECT_THAT(commit({2, 3, 4, 5, 6}), ElementsAre(2, 3, 5));
  EXPECT_THAT(held(), ElementsAre(1, 4, 6));
  skipped.answered(7);
  EXPECT_THAT(commit({7}), ElementsAre(1, 6));
}

TEST_F(SkipVersions, ThatAreReadAreNotSkipped) {
  begin({1, 0});
  commit({1});
  core->held.pin(3, id(1));
  EXPECT_THAT(commit({2}), IsEmpty());
  core->held.unpin(3, id(1));
  EXPECT_THAT(commit({3}), ElementsAre(1, 2));
}

TEST_F(SkipVersions, OfEarlierEnginesAreNotSkipped) {
  begin({1, 0});
  commit({1});
  begin({1, 0});
  EXPECT_THAT(commit({2, 3}), ElementsAre(2));
  EXPECT_THAT(held(), ElementsAre(1, 3));
}

/// One of two ranks is on this node.
class SkipPartsOfVersions : public SkipVersions {
 protected:
  void begin(plan::RetentionPolicy retention = {1, 0}) {
    NodeStateOptions options = timed();
    options.retention = retention;
    open({16}, std::move(options));
    skipped = {};
    skipped.leave_recovered(*core);
  }
  /// Both ranks commit the version. Returns the numbers of those that were skipped.
  std::vector<std::uint64_t> commit_part(std::uint64_t version, bool wanted) {
    const auto granted = grant(1, id(version));
    EXPECT_EQ(granted.kind, GrantOutcome::Kind::granted);
    auto stage = staged(id(version), {granted.address});
    stage.ranks = 2;
    EXPECT_TRUE(core->held.stage(1, stage));
    EXPECT_TRUE(core->held.commit({id(version), {{0, 2, {0}}}, false, wanted}));
    std::vector<std::uint64_t> numbers;
    for (const auto& one : skipped.skip(*core, "app")) numbers.push_back(one.version);
    return numbers;
  }
  std::optional<std::uint64_t> next() {
    const auto id = core->flushes.next();
    return id ? std::optional(id->version) : std::nullopt;
  }
};

// No node skips a version that all nodes agreed to store, so that it gets there whole.
TEST_F(SkipPartsOfVersions, AreSkippedWhereNotAllNodesBringThemToTheStore) {
  begin();
  EXPECT_FALSE(busy(*core, "app"));
  EXPECT_THAT(commit_part(1, true), IsEmpty());
  EXPECT_FALSE(busy(*core, "app"));
  EXPECT_THAT(commit_part(2, true), IsEmpty());
  EXPECT_TRUE(busy(*core, "app"));
  EXPECT_FALSE(busy(*core, "apple"));
  EXPECT_THAT(commit_part(3, false), IsEmpty());
  EXPECT_THAT(commit_part(4, false), ElementsAre(3));
  EXPECT_THAT(commit_part(5, true), ElementsAre(4));
  EXPECT_THAT(held(), ElementsAre(1, 2, 5));
  for (const std::uint64_t version : {1, 2, 5}) {
    EXPECT_EQ(next(), version);
    EXPECT_TRUE(core->flushes.may_be_published(id(version)));
    store(version);
  }
  EXPECT_FALSE(busy(*core, "app"));
}

TEST_F(SkipPartsOfVersions, AreFlushedWhenNothingNewerComesOrSomebodyWants) {
  begin();
  commit_part(1, true);
  ASSERT_EQ(next(), 1U);
  commit_part(2, false);
  EXPECT_EQ(next(), std::nullopt);
  ASSERT_TRUE(held_back_for_s(*core));
  EXPECT_DOUBLE_EQ(*held_back_for_s(*core), 1);
  time_s += 1.5;
  EXPECT_EQ(next(), 2U) << "it is quiet";
  commit_part(3, false);
  EXPECT_EQ(next(), std::nullopt);
  core->flushes.let_flush(id(3));
  EXPECT_EQ(next(), 3U);
  EXPECT_THAT(commit_part(4, false), IsEmpty()) << "those before have begun";
  EXPECT_THAT(commit_part(5, false), ElementsAre(4));
  core->flushes.let_flush(std::nullopt);
  EXPECT_FALSE(held_back_for_s(*core));
  EXPECT_THAT(commit_part(6, false), ElementsAre(5)) << "it was let, and had not begun";
  core->flushes.let_flush(std::nullopt);
  EXPECT_EQ(next(), 6U);
}

TEST_F(SkipPartsOfVersions, StayWhereSomebodyWaitsOrTheyAreLandmarks) {
  begin({1, 4});
  commit_part(1, false);
  skipped.awaited(7, id(1));
  EXPECT_THAT(commit_part(2, false), IsEmpty());
  EXPECT_THAT(commit_part(3, false), ElementsAre(2));
  EXPECT_THAT(commit_part(4, false), ElementsAre(3));
  EXPECT_THAT(commit_part(5, false), IsEmpty()) << "all nodes keep that number";
  EXPECT_EQ(next(), 4U) << "in its turn, and not held back";
  skipped.answered(7);
  EXPECT_THAT(commit_part(6, false), ElementsAre(1, 5));
}

// Otherwise a wait would not end as long as newer versions come.
TEST_F(SkipPartsOfVersions, ThatWereLetAreNotHeldBackAgain) {
  begin();
  commit_part(1, false);
  skipped.awaited(7, id(1));
  core->flushes.let_flush(id(1));
  EXPECT_THAT(commit_part(2, false), IsEmpty());
  EXPECT_EQ(next(), 1U);
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(SkipPartsOfVersions, ThatAreHeldBackKeepNothingNewerFromTheStore) {
  begin();
  commit_part(1, false);
  core->held.pin(3, id(1));
  commit_part(2, true);
  EXPECT_EQ(next(), 2U);
  EXPECT_TRUE(core->flushes.may_be_published(id(2)));
}

TEST_F(SkipVersions, WithoutRetentionNothingIsSkipped) {
  open({16});
  EXPECT_THAT(commit({1, 2, 3, 4, 5}), IsEmpty());
}

// Nobody knows whether the store will ever have a version whose flush was given up.
TEST_F(SkipVersions, ThatWereGivenUpStandForNoOthers) {
  begin({1, 0});
  commit({1});
  ASSERT_TRUE(checkpoint(2));
  core->flushes.failed(id(2), {PERDURE_CORRUPT, "app version 2", "its hash is wrong", "", false}, true);
  EXPECT_THAT(skipped.skip(*core, "app"), IsEmpty());
  EXPECT_THAT(held(), ElementsAre(1, 2));
}

TEST_F(SkipVersions, AreAnsweredForBySomethingNewer) {
  begin({1, 0});
  EXPECT_EQ(state_of(1), SkipState::unknown);
  commit({1, 2});
  EXPECT_EQ(state_of(1), SkipState::coming);
  EXPECT_EQ(skipped.outcome(*core, {"app", 1, {}}).state, SkipState::coming) << "whatever its attempt";
  EXPECT_EQ(skipped.outcome(*core, {"app", 1, {99, 0}}).state, SkipState::unknown) << "another attempt";
  store(2);
  EXPECT_EQ(state_of(1), SkipState::stored);
  EXPECT_EQ(skipped.outcome(*core, id(1)).newer, 2u);
  EXPECT_TRUE(skipped.tell_once(id(1)));
  EXPECT_FALSE(skipped.tell_once(id(1)));
  EXPECT_FALSE(skipped.tell_once(id(8)));
}

// A version that another branch stored has nothing of the skipped state.
TEST_F(SkipVersions, AreNotAnsweredForByAnotherBranch) {
  begin({1, 0});
  commit({1, 2});
  const segment::VersionId other{"app", 9, {9, plan::nonce_on(7, 1)}};
  const auto granted = grant(1, other);
  ASSERT_EQ(granted.kind, GrantOutcome::Kind::granted);
  ASSERT_TRUE(core->held.stage(1, staged(other, {granted.address})));
  ASSERT_TRUE(core->held.commit(commit_of(other)));
  EXPECT_EQ(skipped.outcome(*core, {"app", 1, {}}).state, SkipState::unknown) << "which branch's it is nobody says";
  ASSERT_TRUE(core->flushes.segment_stored(other, 0));
  core->flushes.succeeded(other, kChunk, 1);
  EXPECT_EQ(state_of(1), SkipState::coming) << "version 2 of its own branch";
  EXPECT_EQ(skipped.outcome(*core, {"app", 1, {}}).state, SkipState::unknown);
  core->flushes.failed(id(2), {PERDURE_CORRUPT, "app version 2", "its hash is wrong", "", false}, true);
  EXPECT_EQ(state_of(1), SkipState::lost);
}

TEST_F(SkipVersions, AreLostWhereNothingNewerIsOnItsWay) {
  begin({1, 0});
  commit({1, 2});
  core->flushes.failed(id(2), {PERDURE_CORRUPT, "app version 2", "its hash is wrong", "", false}, true);
  EXPECT_EQ(state_of(1), SkipState::lost);
  ASSERT_TRUE(skipped.outcome(*core, id(1)).error);
  EXPECT_EQ(skipped.outcome(*core, id(1)).error->cause, "its hash is wrong");
}

}  // namespace
}  // namespace perdure::engine
