// Tests a group with its parities at a server: what is ordered there, and what is dropped there when it is useless.
#include <gmock/gmock.h>

#include "engine/replicate/scripted_group_testing.hpp"

namespace perdure::engine {
namespace {

/// A server that makes no parities, and remembers the orders.
class RememberedOrders final : public ParityStore {
 public:
  /// Called when an order comes; returns whether it is done, or an error.
  using Answer = std::function<base::Result<bool>()>;
  explicit RememberedOrders(Answer answer) : answer_(std::move(answer)) {}
  base::Result<bool> order(const Group& group, const std::vector<std::vector<std::byte>>&,
                           const std::vector<std::vector<EncodingTask::Source>>&) override {
    auto answer = answer_();
    add(group);
    ++answered_;
    return answer;
  }
  bool has_answered() const { return answered_ > 0; }
  std::function<void()> before_drop;  ///< called before a version is dropped
  std::optional<std::vector<Parity>> find(const Group&) override { return std::nullopt; }
  base::Status rebuild(const Group&, const Lost&, const std::vector<Survivor>&, base::ByteSpan) override { return {}; }
  void drop(const Group& group) override {
    drop_if([&](const auto& key) { return key == std::pair(group.id, group.number); });
  }
  void drop(const segment::VersionId& id) override {
    if (before_drop) before_drop();
    drop_if([&](const auto& key) { return key.first.version == id; });
  }
  void drop_older(const std::string& name, std::uint64_t attempt_ns, const std::set<std::uint64_t>& keep) override {
    drop_if([&](const auto& key) {
      const auto& id = key.first.version;
      return id.name == name && id.attempt.created_ns < attempt_ns && !keep.contains(id.attempt.created_ns);
    });
  }
  void add(const Group& group) {
    std::lock_guard guard(mutex_);
    there_.insert({group.id, group.number});
  }
  bool has(const Group& group) {
    std::lock_guard guard(mutex_);
    return there_.contains({group.id, group.number});
  }

 private:
  using Key = std::pair<catalog::RedundancyId, std::uint32_t>;
  void drop_if(const std::function<bool(const Key&)>& which) {
    std::lock_guard guard(mutex_);
    std::erase_if(there_, which);
  }
  Answer answer_;
  std::atomic<int> answered_ = 0;
  std::mutex mutex_;
  std::set<Key> there_;
};

class ServedGroup : public ScriptedGroup {
 protected:
  Membership membership(unsigned position, std::uint64_t epoch) override {
    Membership made = ScriptedGroup::membership(position, epoch);
    made.addresses.resize(scheme_.members);
    made.parity = server_;
    return made;
  }
  RememberedOrders::Answer answer_ = [] { return true; };
  std::shared_ptr<RememberedOrders> server_ = std::make_shared<RememberedOrders>([this] { return answer_(); });
  const ParityStore::Group mine_{{first_, 7}, 3};
};

TEST_F(ServedGroup, WhatFailedAfterItWasOrderedIsDropped) {
  make({"parity-server", 3, 1, 0}, 1);
  script([this](unsigned from, unsigned to, const GroupMessage& message) -> base::Status {
    if (from != 0 || !std::holds_alternative<Keeps>(message.body)) return {};
    if (message.position == 3) ++noticed_;  // the server's position
    return to == 1 ? lost() : base::Status();
  });
  commit(first_);
  store(0, first_);
  protect(first_);
  ASSERT_TRUE(eventually("the message is sent", [&] { return noticed_ > 0; }));
  EXPECT_TRUE(server_->has(mine_));
  nodes_[0]->replicator().release_room();
  EXPECT_TRUE(eventually("the server drops the parities", [&] { return !server_->has(mine_); }));
}

TEST_F(ServedGroup, WhatFailsWhileItIsOrderedIsDroppedWhenTheServerHasAnswered) {
  answer_ = [this] {
    gate_.wait();
    return true;
  };
  make({"parity-server", 3, 1, 0}, 1);
  commit(first_);
  store(0, first_);
  protect(first_);
  ASSERT_TRUE(eventually("somebody stands at the gate", [&] { return gate_.waiting() == 1; }));
  nodes_[0]->replicator().release_room();
  EXPECT_TRUE(eventually("the version fails at node 1", [&] { return failed(1, first_); }));
  EXPECT_FALSE(server_->has_answered());
  gate_.open();
  EXPECT_TRUE(eventually("the server has answered, and drops the parities",
                         [&] { return server_->has_answered() && !server_->has(mine_); }));
}

// Each node has one thread for all the rest.
TEST_F(ServedGroup, AServerThatDoesNotAnswerKeepsNoOtherVersionWaiting) {
  answer_ = [this] {
    gate_.wait();
    return true;
  };
  make({"parity-server", 3, 1, 0}, 1);
  script([this](unsigned from, unsigned, const GroupMessage& message) -> base::Status {
    if (from == 0 && message.id.version == second_) ++noticed_;
    return {};
  });
  commit(first_);
  protect(first_);
  ASSERT_TRUE(eventually("somebody stands at the gate", [&] { return gate_.waiting() == 1; }));
  commit(second_);
  protect(second_);
  EXPECT_TRUE(eventually("node 0 tells the others of the second version", [&] { return noticed_ >= 2; }))
      << "node 0 tells the others nothing";
  EXPECT_FALSE(server_->has_answered());
  gate_.open();
  EXPECT_TRUE(eventually("the second version's parities are ordered", [&] { return server_->has({{second_, 7}, 3}); }));
}

TEST_F(ServedGroup, WhatFailsBetweenTwoOrdersIsDropped) {
  answer_ = [] { return false; };
  make({"parity-server", 3, 1, 0}, 1);
  commit(first_);
  store(0, first_);
  protect(first_);
  ASSERT_TRUE(eventually("the parities are ordered", [&] { return server_->has(mine_); }));
  nodes_[0]->replicator().release_room();
  EXPECT_TRUE(eventually("the server drops the parities", [&] { return !server_->has(mine_); }));
  ASSERT_TRUE(quiescent());
  EXPECT_FALSE(server_->has(mine_)) << "it is not ordered again";
}

TEST_F(ServedGroup, WhatIsToBeDroppedGoesBeforeTheNextOrder) {
  server_->before_drop = [this] { gate_.wait(); };
  make({"parity-server", 3, 1, 0}, 1);
  nodes_[0]->replicator().gone({"app", 9, {9, 9}});
  ASSERT_TRUE(eventually("somebody stands at the gate", [&] { return gate_.waiting() == 1; }));
  commit(first_);
  protect(first_);
  for (unsigned p = 0; p < 3; ++p)
    ASSERT_TRUE(eventually("each node records the version", [&] { return recorded(p, first_); }));
  ASSERT_TRUE(quiescent()) << "an order that does not wait has come then";
  EXPECT_FALSE(server_->has_answered());
  gate_.open();
  EXPECT_TRUE(wait_reached(first_));
}

TEST_F(ServedGroup, WhatTheStoreHasIsDroppedAndNothingOfOtherGroups) {
  make({"parity-server", 3, 1, 0}, 1);
  const ParityStore::Group other{{first_, 7}, 4}, earlier{{first_, 6}, 3};
  server_->add(other);
  server_->add(earlier);
  commit(first_);
  protect(first_);
  ASSERT_TRUE(wait_reached(first_));
  EXPECT_TRUE(server_->has(mine_));
  for (unsigned p = 0; p < 3; ++p) store(p, first_);
  EXPECT_TRUE(eventually("the server drops the parities", [&] { return !server_->has(mine_); }));
  EXPECT_TRUE(server_->has(other)) << "its members may not have stored theirs";
  EXPECT_TRUE(server_->has(earlier));
}

}  // namespace
}  // namespace perdure::engine
