// Tests a version that is given up: everybody who waits for it is told, once, and it keeps no room.
#include <gmock/gmock.h>

#include "engine/replicate/scripted_group_testing.hpp"

namespace perdure::engine {
namespace {

class FailingGroup : public ScriptedGroup {
 protected:
  void SetUp() override { options_.first_ns = kHour; }  // nothing happens because time passes
  Counters counters(unsigned position) {
    const auto guard = nodes_[position]->lock();
    return nodes_[position]->core().counters();
  }
};

TEST_F(FailingGroup, WhoWasBeingToldSomethingWhenItFailedHearsThatItFailed) {
  make({"xor", 3, 1, 0}, 1);
  script([this](unsigned from, unsigned to, const GroupMessage& message) -> base::Status {
    if (from == 0 && to == 1 && std::holds_alternative<Announce>(message.body)) gate_.wait();
    return {};
  });
  commit(first_);
  store(0, first_);
  protect(first_);
  ASSERT_TRUE(eventually("somebody stands at the gate", [&] { return gate_.waiting() == 1; }));
  nodes_[0]->replicator().release_room();
  EXPECT_TRUE(eventually("the version fails at node 2", [&] { return failed(2, first_); }));
  EXPECT_FALSE(failed(1, first_)) << "it is still being told something else";
  gate_.open();
  EXPECT_TRUE(eventually("the version fails at node 1", [&] { return failed(1, first_); }));
}

TEST_F(FailingGroup, WhoCouldNotBeToldOfItYetHearsThatItFailedToo) {
  make({"xor", 3, 1, 0}, 1);
  script([this](unsigned from, unsigned, const GroupMessage& message) -> base::Status {
    if (from != 0 || !std::holds_alternative<Announce>(message.body)) return {};
    ++noticed_;
    return lost();
  });
  commit(first_);
  store(0, first_);
  nodes_[0]->replicator().committed(first_);
  ASSERT_TRUE(eventually("the message is sent", [&] { return noticed_ > 0; }));
  nodes_[1]->replicator().committed(first_);
  nodes_[0]->replicator().release_room();
  EXPECT_TRUE(eventually("the version fails at node 1", [&] { return failed(1, first_); }));
  EXPECT_FALSE(failed(2, first_)) << "it does not wait for anybody yet";
  nodes_[2]->replicator().committed(first_);  // node 0 has failed already
  EXPECT_TRUE(eventually("the version fails at node 2", [&] { return failed(2, first_); }));
}

TEST_F(FailingGroup, AWithdrawalThatGetsLostIsSentAgain) {
  make({"xor", 3, 1, 0}, 1);
  commit(first_);
  store(0, first_);
  for (unsigned p : {0U, 2U}) nodes_[p]->replicator().committed(first_);
  ASSERT_TRUE(eventually("node 0 has announced its part to both others",
                         [&] { return has_announced(0, 1) && has_announced(0, 2); }));
  script([this](unsigned, unsigned to, const GroupMessage& message) -> base::Status {
    const bool lose = to == 1 && std::holds_alternative<Withdraw>(message.body) && ++noticed_ <= 3;
    return lose ? lost() : base::Status();
  });
  nodes_[0]->replicator().release_room();
  EXPECT_TRUE(eventually("the version fails at node 1", [&] { return failed(1, first_); }));
  EXPECT_TRUE(eventually("both others hear that node 0 gives it up",
                         [&] { return withdrawals(0, 1) == 1 && withdrawals(0, 2) == 1; }));
  EXPECT_EQ(noticed_, 4);
}

TEST_F(FailingGroup, WhatIsSaidOfAVersionThatIsForgottenHereIsNotSaidAgain) {
  make({"xor", 3, 1, 0}, 1);
  const catalog::RedundancyId forgotten{first_, 7};
  EXPECT_TRUE(nodes_[0]->replicator().receive(encode(GroupMessage{forgotten, 1, Withdraw{"its disk is full"}})));
  EXPECT_TRUE(nodes_[0]->replicator().receive(encode(GroupMessage{forgotten, 1, Stored{}})));
  EXPECT_EQ(nodes_[0]->replicator().receive(encode(GroupMessage{forgotten, 1, Keeps{}})).error().code, PERDURE_BUSY)
      << "its announcement is late";
  EXPECT_FALSE(failed(0, first_));
}

TEST_F(FailingGroup, OfWhatFailedNothingIsKeptButWhatAnEarlierLaunchRecorded) {
  make({"xor", 3, 1, 0}, 1);
  commit(first_);
  protect(first_);
  ASSERT_TRUE(wait_reached(first_));
  for (auto& node : nodes_) EXPECT_EQ(node->used(), 3U) << "two chunks, and a parity";
  join(8);
  stop_keeps(2, 0);
  protect(first_);
  for (unsigned p = 0; p < 3; ++p)
    ASSERT_TRUE(eventually("each node records the version", [&] { return recorded(p, first_, 8); }));
  ASSERT_TRUE(eventually("the version reaches its level at node 1",
                         [&] { return nodes_[1]->replicator().state(first_).reached; }));
  for (auto& node : nodes_) EXPECT_EQ(node->used(), 4U);
  const GroupMessage withdrawal{{first_, 8}, 0, Withdraw{"the disk is full"}};
  for (unsigned p : {1U, 2U}) ASSERT_TRUE(nodes_[p]->replicator().receive(encode(withdrawal)));
  EXPECT_TRUE(failed(2, first_));
  EXPECT_FALSE(recorded(2, first_, 8));
  EXPECT_EQ(nodes_[2]->used(), 3U);
  EXPECT_TRUE(recorded(2, first_, 7));
  EXPECT_TRUE(nodes_[1]->replicator().state(first_).reached);
  EXPECT_TRUE(recorded(1, first_, 8)) << "what was reached stays";
}

TEST_F(FailingGroup, WhoHearsItFailsAndDoesNotSayItAgain) {
  make({"xor", 3, 1, 0}, 1);
  commit(first_);
  store(0, first_);
  for (unsigned p : {0U, 2U}) nodes_[p]->replicator().committed(first_);
  ASSERT_TRUE(eventually("nodes 0 and 2 have announced their parts to node 1",
                         [&] { return has_announced(0, 1) && has_announced(2, 1); }));
  ASSERT_TRUE(quiescent()) << "they have to be woken then";
  nodes_[0]->replicator().release_room();
  ASSERT_TRUE(eventually("both others hear that node 0 gives it up",
                         [&] { return withdrawals(0, 1) == 1 && withdrawals(0, 2) == 1; }));
  for (unsigned p : {1U, 2U}) {
    const auto why = nodes_[p]->replicator().state(first_).failed;
    ASSERT_TRUE(why) << p;
    EXPECT_THAT(why->text(), testing::HasSubstr("position 0 of the group gives it up"));
    EXPECT_THAT(nodes_[p]->reports().take().value_or(""), testing::HasSubstr("it does not reach level node"));
  }
  ASSERT_TRUE(quiescent()) << "who would say it has said it then";
  for (unsigned from : {1U, 2U})
    for (unsigned to = 0; to < 3; ++to) EXPECT_EQ(withdrawals(from, to), 0U) << from << " to " << to;
  EXPECT_EQ(withdrawals(0, 1) + withdrawals(0, 2), 2U);
}

TEST_F(FailingGroup, GivesWayOnlyWithWhatTheStoreHasAndWhatIsNotReached) {
  make({"xor", 3, 1, 0}, 1);
  commit(first_);
  protect(first_);
  ASSERT_TRUE(wait_reached(first_));
  store(0, first_);
  stop_keeps(2, 0);
  commit(second_);
  protect(second_);
  ASSERT_TRUE(eventually("node 0 records the second version, which reaches its level at node 1",
                         [&] { return recorded(0, second_) && nodes_[1]->replicator().state(second_).reached; }));
  nodes_[0]->replicator().release_room();
  EXPECT_FALSE(failed(0, second_)) << "only this node has it";
  EXPECT_TRUE(recorded(0, second_));
  EXPECT_EQ(nodes_[0]->used(), 6U) << "two versions of two chunks, and a parity each";
  store(0, second_);
  nodes_[0]->replicator().release_room();
  EXPECT_TRUE(failed(0, second_));
  EXPECT_EQ(counters(0).replications_stored, 1U);
  EXPECT_EQ(counters(0).replications_failed, 0U) << "the store has what this node would lose";
  EXPECT_FALSE(recorded(0, second_));
  EXPECT_EQ(nodes_[0]->used(), 5U);
  EXPECT_TRUE(nodes_[0]->replicator().state(first_).reached);
  EXPECT_TRUE(recorded(0, first_));
}

TEST_F(FailingGroup, WhatANewerVersionReplacesBeforeItIsProtectedHasNotFailed) {
  make({"xor", 3, 1, 0}, 1);
  commit(first_);
  nodes_[0]->replicator().committed(first_);
  ASSERT_TRUE(
      eventually("one version is under way at node 0", [&] { return nodes_[0]->replicator().under_way() == 1; }));
  ASSERT_TRUE(eventually("node 0 has announced its part to node 1", [&] { return has_announced(0, 1); }));
  nodes_[0]->replicator().superseded(first_.name, first_.attempt.created_ns + 1, {});
  EXPECT_EQ(counters(0).replications_superseded, 1U);
  EXPECT_EQ(counters(0).replications_failed, 0U);
  nodes_[0]->replicator().superseded(first_.name, first_.attempt.created_ns + 1, {});
  EXPECT_EQ(counters(0).replications_superseded, 1U);
}

// Two groups that each skip the other's version would never have any version in common.
TEST_F(FailingGroup, WhatOtherGroupsCountOnIsNotSkippedForANewerVersion) {
  make({"xor", 3, 1, 0}, 1);
  const segment::VersionId third{"app", 3, {3, 3}};
  for (auto& node : nodes_) node->replicator().superseded("app", 0, {second_.attempt.created_ns});
  std::atomic<bool> stopped = true;
  script([&stopped](unsigned from, unsigned to, const GroupMessage& message) -> base::Status {
    const bool older = message.id.version.version < 3 && std::holds_alternative<Keeps>(message.body);
    return stopped && older && from == 2 && to == 0 ? lost() : base::Status();
  });
  for (const auto& id : {first_, second_, third}) {
    commit(id);
    protect(id);
  }
  ASSERT_TRUE(wait_reached(third));
  stopped = false;
  EXPECT_TRUE(wait_reached(second_));
  EXPECT_FALSE(nodes_[0]->replicator().state(first_).reached) << "nobody counts on it";
}

TEST_F(FailingGroup, WhatIsWholeIsNotReplicatedAgainAndWhatIsNotTakesNewGroups) {
  make({"xor", 3, 1, 0}, 1);
  commit(first_);
  const auto begun = nodes_[0]->replicator().again(first_);
  EXPECT_TRUE(begun.begun && !begun.kept);
  protect(first_);
  ASSERT_TRUE(wait_reached(first_));
  const auto kept = nodes_[0]->replicator().again(first_);
  EXPECT_TRUE(kept.kept && !kept.begun);
  {
    const auto guard = nodes_[0]->lock();
    ASSERT_TRUE(nodes_[0]->core().redundancy.drop(first_));
  }
  const auto gone = nodes_[0]->replicator().again(first_);
  EXPECT_FALSE(gone.kept || gone.begun) << "the others of its group think that it is there";
  join(8);
  for (auto& node : nodes_) {
    const auto guard = node->lock();
    node->core().redundancy.in_epoch(8);
  }
  for (auto& node : nodes_) EXPECT_TRUE(node->replicator().again(first_).begun);
  EXPECT_TRUE(wait_reached(first_));
  const auto nothing = nodes_[0]->replicator().again(second_);
  EXPECT_TRUE(nothing.kept && nothing.begun) << "a node that has nothing of it has no say";
}

}  // namespace
}  // namespace perdure::engine
