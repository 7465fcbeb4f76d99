// Tests remains: a version whose outcome this launch cannot find out is kept and hinders nobody.
#include <gmock/gmock.h>

#include "engine/ledger/redundancy_testing.hpp"

namespace perdure::engine {
namespace {

using Kind = GrantOutcome::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Remains : public RedundancyFixture {
 protected:
  /// Stages a chunk of it, from a rank that is gone.
  void stage(const segment::VersionId& version, std::uint64_t launch = 0) {
    const auto granted = grant(9, version);
    ASSERT_EQ(granted.kind, Kind::granted);
    auto stage = staged(version, {granted.address});
    stage.launch = launch;
    ASSERT_TRUE(core->held.stage(9, stage));
    core->client_gone(9);
  }
  void keep(const segment::VersionId& version) {
    stage(version);
    core->held.keep_remains(version);
  }
  void store_fails() { core->flushes.failed(id(1), {PERDURE_NO_SPACE, "store", "it is full", "", true}, false); }
};

TEST_F(Remains, AVersionThatIsNotCommittedSaysWhetherItsNodesAreInTheLaunchThatAsks) {
  using ipc::CaptureNodes;
  open({3});
  core->held.launch({1, {7, 9}});
  core->held.launch({2, {7, 8, 10}});
  stage(id(1), 1);
  const auto asked_by = [&](std::uint64_t launch) { return core->held.inventory("", launch).at(0).capture_nodes; };
  EXPECT_EQ(asked_by(1), CaptureNodes::all_here);
  EXPECT_EQ(asked_by(2), CaptureNodes::some_away);
  EXPECT_EQ(asked_by(3), CaptureNodes::unknown);
  open({3});
  EXPECT_EQ(asked_by(1), CaptureNodes::unknown) << "nobody has told this engine";
  core->held.launch({4, {5, 7, 9}});
  core->held.launch({2, {7, 8, 10}});
  EXPECT_EQ(asked_by(4), CaptureNodes::all_here) << "and one more";
  EXPECT_EQ(asked_by(2), CaptureNodes::some_away);
  stage(id(2));
  EXPECT_EQ(core->held.inventory("", 4).at(1).capture_nodes, CaptureNodes::unknown) << "whose ranks did not say it";
}

TEST_F(Remains, GoWhenANewerVersionOfTheirBranchIsCommittedAndForNoOther) {
  open({4});
  const segment::VersionId of_another{"app", 1, {1, plan::nonce_on(7, 1)}};
  keep(of_another);
  ASSERT_TRUE(checkpoint(2));
  EXPECT_NE(core->find(of_another), nullptr) << "it is not what this launch goes on from";
  keep(id(3));
  ASSERT_TRUE(checkpoint(4));
  EXPECT_EQ(core->find(id(3)), nullptr);
}

TEST_F(Remains, OfTheLaunchesThatToldTheirNodesTheLastAreKnown) {
  open({2});
  for (std::uint64_t launch = 1; launch <= 17; ++launch) core->held.launch({launch, {launch}});
  stage(id(1), 1);
  stage(id(2), 17);
  EXPECT_TRUE(core->find(id(1))->nodes.empty());
  EXPECT_EQ(core->find(id(2))->nodes, (std::vector<std::uint64_t>{17}));
}

TEST_F(Remains, GoBeforeACheckpointIsRefusedAndThatIsReported) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  stage(id(2));
  store_fails();
  EXPECT_NE(grant(1, id(3)).kind, Kind::granted) << "it is somebody's";
  core->held.keep_remains(id(2));
  EXPECT_EQ(grant(1, id(3)).kind, Kind::granted);
  EXPECT_EQ(core->find(id(2)), nullptr);
  EXPECT_NE(core->find(id(1)), nullptr) << "the version that the launch has";
  EXPECT_THAT(taken_reports(), ElementsAre(HasSubstr("app version 2: what is here of it was given up to make room")));
}

TEST_F(Remains, StayWhileSomethingThatIsSafeMakesRoom) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  store(1);
  keep(id(2));
  EXPECT_EQ(grant(1, id(3)).kind, Kind::granted);
  EXPECT_EQ(core->find(id(1)), nullptr);
  EXPECT_NE(core->find(id(2)), nullptr);
}

TEST_F(Remains, StayWhileAnotherTierHasRoom) {
  open({1, 1});
  keep(id(2));
  const auto granted = grant(1, id(3));
  EXPECT_EQ(granted.kind, Kind::granted);
  EXPECT_EQ(granted.address.tier, 1U);
  EXPECT_NE(core->find(id(2)), nullptr);
}

TEST_F(Remains, GoWhenANewerVersionOfTheNameIsCommitted) {
  open({6});
  keep(id(2));
  keep(id(5));
  keep(id(1, "other"));
  stage(id(3));
  ASSERT_TRUE(checkpoint(4));
  EXPECT_EQ(core->find(id(2)), nullptr);
  EXPECT_NE(core->find(id(3)), nullptr) << "which nobody calls so";
  EXPECT_NE(core->find(id(5)), nullptr) << "newer ones";
  EXPECT_NE(core->find(id(1, "other")), nullptr);
  EXPECT_EQ(used(0), 4U);
  EXPECT_THAT(taken_reports(), IsEmpty());
}

TEST_F(Remains, MakeRoomForWhatIsRecoveredOrKeptForOthersLast) {
  open({1, 1});
  keep(id(2));
  const auto slot = take(1);
  EXPECT_EQ(slot.tier, 1U);
  EXPECT_NE(core->find(id(2)), nullptr) << "there was room";
  EXPECT_FALSE(core->room.take_for_redundancy(id(2), kChunk)) << "its own is none";
  (void)take(1);
  EXPECT_EQ(core->find(id(2)), nullptr);
  EXPECT_THAT(taken_reports(), ElementsAre(HasSubstr("given up to make room")));
}

TEST_F(Remains, AreNoneAnyMoreWhenTheirOutcomeIsKnown) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  keep(id(2));
  ASSERT_TRUE(core->held.commit(commit_of(id(2))));
  core->held.keep_remains(id(2));
  core->held.keep_remains(id(7));
  EXPECT_EQ(core->flushes.next(), id(1));
  store_fails();
  (void)grant(1, id(3));
  EXPECT_NE(core->find(id(2)), nullptr);
}

TEST_F(Remains, AreNoneAnyMoreWhenTheyAreRestoredOrAnotherLaunchBegins) {
  open({2});
  keep(id(1));
  keep(id(2));
  ASSERT_TRUE(core->held.locate(1, id(1), 0));
  core->held.unpin(1);
  ASSERT_EQ(grant(1, id(3)).kind, Kind::granted);
  EXPECT_NE(core->find(id(1)), nullptr);
  EXPECT_EQ(core->find(id(2)), nullptr);
  core->client_gone(1);
  keep(id(4));
  core->held.launch({1, {7}});
  EXPECT_NE(grant(1, id(5)).kind, Kind::granted);
}

TEST_F(Remains, ThatSomebodyReadsStay) {
  open({1});
  keep(id(2));
  core->held.pin(7, id(2));
  EXPECT_NE(grant(1, id(3)).kind, Kind::granted);
  EXPECT_NE(core->find(id(2)), nullptr);
}

}  // namespace
}  // namespace perdure::engine
