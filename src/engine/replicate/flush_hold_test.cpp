// Tests that a version's flush waits for its level node, until that fails or has to be retried, and not for ever.
#include "engine/replicate/scripted_group_testing.hpp"

namespace perdure::engine {
namespace {

class FlushHold : public ScriptedGroup {
 protected:
  void SetUp() override { options_.first_ns = kHour; }
  /// True if node 0 would begin the flush now.
  bool may_flush(const segment::VersionId& id) {
    const auto guard = nodes_[0]->lock();
    return nodes_[0]->core().flushes.next() == id;
  }
  /// Stops messages between these positions at the gate.
  void hold(unsigned from, unsigned to) {
    script([this, from, to](unsigned sender, unsigned receiver, const GroupMessage&) -> base::Status {
      if (sender == from && receiver == to) gate_.wait();
      return {};
    });
  }
};

TEST_F(FlushHold, LastsUntilTheVersionIsProtected) {
  make({"xor", 3, 1, 0}, 1);
  hold(1, 0);
  commit(first_);
  protect(first_);
  ASSERT_TRUE(eventually("somebody stands at the gate", [&] { return gate_.waiting() > 0; }));
  EXPECT_FALSE(may_flush(first_));
  gate_.open();
  ASSERT_TRUE(wait_reached(first_));
  EXPECT_TRUE(may_flush(first_));
}

TEST_F(FlushHold, LastsUntilTheVersionIsGivenUp) {
  make({"xor", 3, 1, 0}, 1);
  hold(1, 0);
  commit(first_);
  protect(first_);
  ASSERT_TRUE(eventually("somebody stands at the gate, and node 2 has announced its part to node 0",
                         [&] { return gate_.waiting() > 0 && has_announced(2, 0); }));
  EXPECT_FALSE(may_flush(first_));
  ASSERT_TRUE(nodes_[0]->replicator().receive(encode(GroupMessage{{first_, 7}, 2, Withdraw{"its disk is full"}})));
  EXPECT_TRUE(may_flush(first_));
}

TEST_F(FlushHold, LastsUntilSomebodyCannotBeReached) {
  make({"xor", 3, 1, 0}, 1);
  script([this](unsigned from, unsigned to, const GroupMessage&) -> base::Status {
    if (from != 0 || to != 1) return {};
    ++noticed_;
    return base::fail(PERDURE_BUSY, "message", "it is in another launch still", {}, true);
  });
  commit(first_);
  protect(first_);
  ASSERT_TRUE(eventually("the message is sent again", [&] { return noticed_ > 3; }));
  EXPECT_FALSE(may_flush(first_)) << "who is there answers soon";
  script([](unsigned from, unsigned to, const GroupMessage&) -> base::Status {
    return from == 0 && to == 1 ? lost() : base::Status();
  });
  EXPECT_TRUE(eventually("the version's flush may begin", [&] { return may_flush(first_); }));
  EXPECT_FALSE(nodes_[0]->replicator().state(first_).failed);
}

TEST_F(FlushHold, LastsNoLongerThanItMay) {
  options_.first_ns = kMillisecond;
  make({"xor", 3, 1, 0}, 1);
  hold(1, 0);
  commit(first_);
  protect(first_);
  EXPECT_TRUE(eventually("the version's flush may begin", [&] { return may_flush(first_); }));
  EXPECT_FALSE(nodes_[0]->replicator().state(first_).reached);
}

// The pipeline lists the flush first.
TEST_F(FlushHold, IsNotBegunWhereTheFlushDoesNotWait) {
  options_.first_ns = 0;
  make({"xor", 3, 1, 0}, 1);
  hold(1, 0);
  commit(first_);
  protect(first_);
  ASSERT_TRUE(eventually("somebody stands at the gate", [&] { return gate_.waiting() > 0; }));
  EXPECT_TRUE(may_flush(first_)) << "level node is not reached";
  EXPECT_FALSE(nodes_[0]->replicator().state(first_).reached);
  gate_.open();
  EXPECT_TRUE(wait_reached(first_));
}

}  // namespace
}  // namespace perdure::engine
