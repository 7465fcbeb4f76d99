// Tests a group of nodes in one process: each keeps what the scheme says, whatever happens to messages.
#include "engine/replicate/replicator.hpp"

#include <gmock/gmock.h>

#include "engine/replicate/group_testing.hpp"

namespace perdure::engine {
namespace {

using Bytes = std::vector<std::byte>;

/// Decides the fate of messages and reads. Thread-safe.
class Weather {
 public:
  explicit Weather(std::uint64_t seed, unsigned percent) : random_(seed), percent_(percent) {}
  bool strikes() {
    std::lock_guard guard(mutex_);
    return random_() % 100 < percent_;
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 random_;
  unsigned percent_;
};

/// Loses some messages as the weather decides, and delivers some twice.
class FilesLink final : public DirectLink {
 public:
  FilesLink(std::vector<std::unique_ptr<GroupNode>>& nodes, Weather& weather) : DirectLink(nodes), weather_(weather) {}
  void close() noexcept override { closed_ = true; }
  base::Status send(unsigned position, base::ConstByteSpan message) override {
    const auto lost = base::fail(PERDURE_TIMEOUT, "message", "it got lost", {}, true);
    if (closed_ || weather_.strikes()) return lost;
    if (weather_.strikes()) (void)DirectLink::send(position, message);  // twice
    const base::Status heard = DirectLink::send(position, message);
    if (weather_.strikes()) return lost;  // the answer
    return heard;
  }
  base::Status read(unsigned position, const BlockPlace& place, std::uint64_t offset, base::ByteSpan target) override {
    if (weather_.strikes()) return base::fail(PERDURE_TIMEOUT, "read", "it got lost", {}, true);
    return DirectLink::read(position, place, offset, target);
  }

 private:
  Weather& weather_;
  std::atomic<bool> closed_ = false;
};

class ProtectedGroup : public GroupFixture {
 protected:
  std::shared_ptr<GroupLink> link(unsigned) override {
    if (!weather_) weather_ = std::make_unique<Weather>(1, GetParam().trouble);
    return std::make_shared<FilesLink>(nodes_, *weather_);
  }
  void TearDown() override {
    for (auto& node : nodes_) node->end();  // before the weather, which their threads use
  }
  std::unique_ptr<Weather> weather_;
};

TEST_P(ProtectedGroup, EveryBlockIsKeptElsewhereWithTheRightContent) {
  make(GetParam(), 1);
  checkpoint(first_);
  ASSERT_TRUE(wait_reached(first_));
  expect_protected(first_, 7);
  checkpoint(second_);
  ASSERT_TRUE(wait_reached(second_));
  expect_protected(second_, 7);
  for (auto& node : nodes_) EXPECT_EQ(node->replicator().under_way(), 0U);
}

std::vector<GroupCase> group_cases() {
  std::vector<GroupCase> all;
  for (unsigned trouble : {0U, 20U})
    for (unsigned n : {2U, 3U, 4U, 8U}) {
      all.push_back({"buddy", n, 0, trouble});
      all.push_back({"xor", n, 1, trouble});
      if (n > 2) all.push_back({"reed-solomon", n, 2, trouble});
    }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Schemes, ProtectedGroup, testing::ValuesIn(group_cases()), [](const auto& tested) {
  std::string name = tested.param.scheme;
  std::erase(name, '-');
  return name + "_" + std::to_string(tested.param.n) + "_" + std::to_string(tested.param.m) +
         (tested.param.trouble > 0 ? "_trouble" : "");
});

class OneGroup : public ProtectedGroup {};
INSTANTIATE_TEST_SUITE_P(Xor, OneGroup, testing::Values(GroupCase{"xor", 3, 1, 0}),
                         [](const auto&) { return "xor_3"; });

TEST_P(OneGroup, ABlockThatRottedBeforeItWasEncodedIsNeverEncoded) {
  make(GetParam(), 3);
  nodes_[0]->end();  // it does nothing by itself any more
  std::mt19937_64 random(5);
  nodes_[1]->checkpoint(first_, {2}, 1, 3, random);
  const auto chunk = nodes_[1]->core().find(first_)->pieces.at(1).chunks[1];  // in stripe 2, whose parity is node 2's
  Bytes bytes = nodes_[1]->content(chunk);
  bytes[100] ^= std::byte{1};
  base::Hasher hasher;
  ASSERT_TRUE(nodes_[1]->slots().write(nodes_[1]->core().address(chunk), 0, bytes, hasher));
  GroupMessage announce{{first_, 7}, 0, Announce{"xor", 3, 1, 3, 3, {}}};
  ASSERT_TRUE(nodes_[2]->replicator().receive(encode(announce)));
  nodes_[2]->checkpoint(first_, {1}, 2, 3, random);
  nodes_[2]->replicator().committed(first_);
  nodes_[1]->replicator().committed(first_);
  ASSERT_TRUE(eventually("node 2 gives it up", [&] { return nodes_[2]->replicator().state(first_).failed; }));
  EXPECT_EQ(nodes_[2]->replicator().state(first_).failed->code, PERDURE_CORRUPT);
  EXPECT_FALSE(nodes_[2]->replicator().state(first_).reached);
  EXPECT_THAT(nodes_[2]->reports().take().value_or(""), testing::HasSubstr("does not match its hash"));
}

TEST_P(OneGroup, WithoutRoomForRedundancyItIsTriedAgainUntilThereIsSome) {
  make(GetParam(), 1, 3);
  std::mt19937_64 random(5);
  for (unsigned p = 0; p < 3; ++p) nodes_[p]->checkpoint(first_, {2}, p, 3, random);
  tier::SlotAddress taken;
  {
    const auto guard = nodes_[1]->lock();
    taken = *nodes_[1]->core().room.take_for_redundancy(second_, kChunk);
  }
  for (auto& node : nodes_) node->replicator().committed(first_);
  for (unsigned p : {0U, 2U})  // node 1 cannot
    ASSERT_TRUE(eventually("the node has done its part", [&] { return nodes_[p]->used() >= 3; })) << p;
  for (auto& node : nodes_) EXPECT_FALSE(node->replicator().state(first_).reached);
  {
    const auto guard = nodes_[1]->lock();
    nodes_[1]->core().room.give_back({taken.tier, taken.slot});
  }
  ASSERT_TRUE(wait_reached(first_));
  expect_protected(first_, 7);
}

TEST_P(OneGroup, InAnotherLaunchItIsEncodedAgainAndTheUnfinishedIsGivenBack) {
  make(GetParam(), 1);
  checkpoint(first_);
  ASSERT_TRUE(wait_reached(first_));
  std::mt19937_64 random(5);
  for (unsigned p = 0; p < 3; ++p) nodes_[p]->checkpoint(second_, {2}, p, 3, random);
  nodes_[0]->replicator().committed(second_);
  nodes_[1]->replicator().committed(second_);  // node 2 never says anything
  join(8);
  for (auto& node : nodes_) EXPECT_EQ(node->replicator().under_way(), 0U);
  for (auto& node : nodes_) node->replicator().committed(second_);
  ASSERT_TRUE(wait_reached(second_));
  expect_protected(second_, 8);
  expect_protected(first_, 7);
  for (auto& node : nodes_) {
    EXPECT_FALSE(node->redundancy_set({second_, 7}));
    {
      const auto guard = node->lock();
      ASSERT_TRUE(guard->held.retire({"app", 1}));
      ASSERT_TRUE(guard->held.retire({"app", 2}));
    }
    EXPECT_EQ(node->used(), 0U) << "no slot is lost";
  }
}

class CapturedGroup : public ProtectedGroup {
 protected:
  void capture(const segment::VersionId& id, std::uint64_t chunks) {
    for (unsigned p = 0; p < nodes_.size(); ++p) nodes_[p]->begin(id, p, chunks, static_cast<unsigned>(nodes_.size()));
    for (auto& node : nodes_)
      for (std::uint64_t i = 0; i < chunks; ++i) {
        node->write(id, random_);
        node->replicator().capturing(id);
      }
  }
  /// Waits until all nodes use so many slots at once. A block that is being made counts; it may fail, and be made
  /// again.
  void wait_used(std::uint64_t slots) {
    ASSERT_TRUE(eventually("each node has " + std::to_string(slots) + " slots in use", [&] {
      return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& node) { return node->used() == slots; });
    }));
  }
};
INSTANTIATE_TEST_SUITE_P(Schemes, CapturedGroup,
                         testing::Values(GroupCase{"xor", 3, 1, 0}, GroupCase{"xor", 3, 1, 20},
                                         GroupCase{"buddy", 3, 0, 0}, GroupCase{"reed-solomon", 4, 2, 0}),
                         [](const auto& tested) {
                           const GroupCase& c = tested.param;
                           return (c.scheme[0] == 'r' ? "rs" : c.scheme) +
                                  (c.trouble > 0 ? std::string("_trouble") : "");
                         });

// Slots that each node keeps, with 4 chunks a node. The group has 4 * n * m / (n - m) parities, or 4 * n copies.
std::uint64_t blocks_kept(const GroupCase& c) { return c.m == 0 ? 4 : 4 * c.m / (c.n - c.m); }

TEST_P(CapturedGroup, WhileProcessorsAreBusyCapturesAreProtectedWhenTheyAreCommitted) {
  make(GetParam(), 1);
  for (auto& node : nodes_) node->be_busy(true);
  capture(first_, 4);
  for (unsigned p = 0; p < nodes_.size(); ++p) {
    EXPECT_EQ(nodes_[p]->used(), 4U) << "nothing but the chunks";
    nodes_[p]->commit(first_, static_cast<unsigned>(nodes_.size()));
  }
  for (auto& node : nodes_) node->replicator().committed(first_);
  ASSERT_TRUE(wait_reached(first_));
  expect_protected(first_, 7);
}

TEST_P(CapturedGroup, ChunksAreProtectedBeforeTheCommit) {
  make(GetParam(), 1);
  capture(first_, 4);
  wait_used(4 + blocks_kept(GetParam()));
  for (unsigned p = 0; p < nodes_.size(); ++p) {
    EXPECT_FALSE(nodes_[p]->redundancy_set({first_, 7})) << "nothing is recorded before";
    EXPECT_EQ(nodes_[p]->replicator().under_way(), 0U) << "nobody waits for what may never be committed";
    nodes_[p]->commit(first_, static_cast<unsigned>(nodes_.size()));
    nodes_[p]->replicator().committed(first_);
  }
  ASSERT_TRUE(wait_reached(first_));
  expect_protected(first_, 7);
}

TEST_P(CapturedGroup, OfAnAbortedCaptureNothingStays) {
  make(GetParam(), 1);
  capture(first_, 4);
  wait_used(4 + blocks_kept(GetParam()));
  for (auto& node : nodes_) node->abort(first_);
  for (auto& node : nodes_) node->replicator().reevaluate_captures();
  wait_used(0);
  capture(second_, 4);
  for (unsigned p = 0; p < nodes_.size(); ++p) {
    nodes_[p]->commit(second_, static_cast<unsigned>(nodes_.size()));
    nodes_[p]->replicator().committed(second_);
  }
  ASSERT_TRUE(wait_reached(second_));
  expect_protected(second_, 7);
}

// `partner` never begins earlier, and no scheme does so for a few bytes.
class LateGroup : public CapturedGroup {
 protected:
  void SetUp() override {
    if (GetParam().scheme == std::string("xor")) options_.least_early_bytes = 1 * base::GiB;
  }
};
INSTANTIATE_TEST_SUITE_P(Schemes, LateGroup, testing::Values(GroupCase{"partner", 3, 0, 0}, GroupCase{"xor", 3, 1, 0}),
                         [](const auto& tested) { return tested.param.scheme; });

TEST_P(LateGroup, NothingIsSentBeforeTheCommit) {
  make(GetParam(), 1);
  capture(first_, 4);
  ASSERT_TRUE(quiescent()) << "who would begin has begun then";
  wait_used(4);
  for (auto& node : nodes_) {
    node->commit(first_, 3);
    node->replicator().committed(first_);
  }
  ASSERT_TRUE(wait_reached(first_));
  expect_protected(first_, 7);
}

// This happens after a restore within one launch: first while the version is only at level node, then when it is in the
// store, too.
TEST_P(OneGroup, WhatIsAskedForAgainWhenItIsReachedKeepsNoRoom) {
  make(GetParam(), 1, 12);
  std::mt19937_64 random(5);
  for (unsigned p = 0; p < 3; ++p) nodes_[p]->checkpoint(first_, {4}, p, 3, random);
  const auto ask = [&] {
    for (auto& node : nodes_) node->replicator().committed(first_);
    for (auto& node : nodes_)
      ASSERT_TRUE(eventually("nothing is under way", [&] { return node->replicator().under_way() == 0; }));
  };
  ask();
  ASSERT_TRUE(wait_reached(first_));
  ask();
  for (auto& node : nodes_) {
    const auto guard = node->lock();
    ASSERT_TRUE(node->core().flushes.segment_stored(first_, 0));
    node->core().flushes.succeeded(first_, 4 * kChunk, 1);
  }
  for (auto& node : nodes_) node->replicator().stored(first_);
  const auto may_go = [&](GroupNode& node) {
    const auto guard = node.lock();
    return node.core().held.evictable(*node.core().find(first_));
  };
  for (auto& node : nodes_) {
    ASSERT_TRUE(eventually("what the store has may be given up", [&] { return may_go(*node); }));
  }
  ask();
  for (auto& node : nodes_) EXPECT_TRUE(may_go(*node));
}

TEST_P(OneGroup, AVersionThatIsGivenUpMeanwhileLeavesNothing) {
  make(GetParam(), 1);
  std::mt19937_64 random(5);
  for (unsigned p = 0; p < 3; ++p) nodes_[p]->checkpoint(first_, {4}, p, 3, random);
  for (auto& node : nodes_) node->replicator().committed(first_);
  for (auto& node : nodes_) {
    node->replicator().gone(first_);
    const auto guard = node->lock();
    ASSERT_TRUE(node->core().held.retire({"app", 1}));
  }
  for (auto& node : nodes_) node->end();
  for (auto& node : nodes_) EXPECT_EQ(node->used(), 0U);
}

TEST_P(OneGroup, WhatOthersSayIsNotBelievedBlindly) {
  make(GetParam(), 1);
  Replicator& replicator = nodes_[0]->replicator();
  const auto refusal = [&](const GroupMessage& message) { return replicator.receive(encode(message)).error().code; };
  const Announce good{"xor", 3, 1, 3, 3, {}};
  EXPECT_EQ(refusal({{first_, 6}, 1, good}), PERDURE_BUSY) << "of another launch";
  EXPECT_EQ(refusal({{first_, 7}, 0, good}), PERDURE_INVALID_ARGUMENT) << "from this position";
  EXPECT_EQ(refusal({{first_, 7}, 3, good}), PERDURE_INVALID_ARGUMENT) << "no such position";
  EXPECT_EQ(refusal({{first_, 7}, 1, Keeps{}}), PERDURE_BUSY) << "of a version that nobody announced";
  Announce other = good;
  other.members = 4;
  EXPECT_EQ(refusal({{second_, 7}, 1, other}), PERDURE_MISMATCH);
  EXPECT_EQ(replicator.receive(Bytes(10)).error().code, PERDURE_CORRUPT);
  EXPECT_TRUE(replicator.receive(encode({{first_, 7}, 1, good})));
  EXPECT_EQ(refusal({{first_, 7}, 1, Offer{{{0, {}, {}}}}}), PERDURE_INVALID_ARGUMENT) << "it announced no block";
}

}  // namespace
}  // namespace perdure::engine
