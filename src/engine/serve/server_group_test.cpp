// Tests which client requests the engine's group is told of, and which not.
#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "engine/host/engine_testing.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kPieceBytes = 64 * base::KiB, kPatience_ns = 200'000'000;

/// An engine in a group of two whose other member never joins.
class ServerOfAGroup : public EngineFixture {
 protected:
  void SetUp() override {
    const auto started = start("redundancy.scheme=xor;network.bind=lo;chunk_bytes=64KiB;tier.order=file");
    ASSERT_TRUE(started) << started.error().text();
    auto claimed = claim(config_, "there");
    ASSERT_TRUE(claimed) << claimed.error().text();
    other_ = std::move(*Engine::start(config_, std::get<Claim>(std::move(*claimed)), false));
    rank_ = client();
    auto others_rank = ipc::Channel::connect(other_->socket_path()).value();
    ASSERT_TRUE(others_rank.call(hello()));
    const auto mine = open_network(rank_), theirs = open_network(others_rank);
    ASSERT_TRUE(rank_.call(ipc::Join{1, 0, 0, {mine, theirs}, {0}}));
  }
  static std::vector<std::byte> open_network(ipc::Channel& channel) {
    const auto opened = channel.call(ipc::OpenNetwork{std::vector<std::byte>(32, std::byte{7})});
    EXPECT_TRUE(opened) << opened.error().text();
    return opened->address;
  }
  void stage() {
    const auto granted = rank_.call(ipc::Grant{id_, kPieceBytes, 0, {}, {}});
    ASSERT_TRUE(granted) << granted.error().text();
    const auto& slot = granted->slot;
    const auto zeros = base::hash128(std::vector<std::byte>(kPieceBytes));  // as in preallocated slots
    ASSERT_TRUE(rank_.call(
        ipc::Stage{id_, 2, {0, kPieceBytes, {{0, 1, kPieceBytes}}, {{slot.slot, kPieceBytes, zeros, slot.tier}}}}));
  }
  void expect_under_way() {
    const auto waited = wait();
    ASSERT_FALSE(waited) << "level node reached: " << waited->reached;
    EXPECT_EQ(waited.error().code, PERDURE_TIMEOUT) << waited.error().text();
  }
  base::Result<ipc::NodeLevelOutcome> wait() { return rank_.call(ipc::WaitNodeLevel{id_, kPatience_ns}); }

  std::unique_ptr<Engine> other_;
  ipc::Channel rank_;
  const segment::VersionId id_{"app", 1, {1, 1}};
};

// All engines have to hold it before any of them tells the others what it has.
TEST_F(ServerOfAGroup, WhatWasRecoveredIsProtectedWhenThatIsAskedForNotWhenItIsCommitted) {
  stage();
  ASSERT_TRUE(rank_.call(ipc::Commit{id_, {}, true}));
  const auto nothing = wait();
  ASSERT_TRUE(nothing) << nothing.error().text();
  EXPECT_FALSE(nothing->reached);
  ASSERT_TRUE(rank_.call(ipc::ReplicateAgain{id_}));
  expect_under_way();
}

TEST_F(ServerOfAGroup, WhatWasCapturedIsProtectedWhenItIsCommitted) {
  stage();
  ASSERT_TRUE(rank_.call(ipc::Commit{id_, {}}));
  expect_under_way();
}

}  // namespace
}  // namespace perdure::engine
