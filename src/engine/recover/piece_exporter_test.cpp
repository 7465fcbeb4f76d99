// Tests what an engine exports to a peer, and for how long: until the recovery ends or the asker is gone. Messages may
// come twice, late or never.
#include "engine/recover/piece_exporter.hpp"

#include <gtest/gtest.h>

#include "engine/ledger/redundancy_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/quiescent.hpp"

namespace perdure::engine {
namespace {

class Exporting : public RedundancyFixture {
 protected:
  static constexpr std::uint64_t kAsker = 5, kRecovery = 77;
  /// Version 1 is stored, so only a pin keeps its slot.
  void SetUp() override {
    open({2});
    ASSERT_TRUE(checkpoint(1));
    store(1);
    ExporterContext context;
    context.address = {std::byte{9}};
    context.place = [this](const tier::SlotAddress& slot) -> base::Result<BlockPlace> {
      ++placed_;
      return BlockPlace{{std::byte{1}}, slot.slot};
    };
    context.there = [this](std::uint64_t peer) { return !gone_.contains(peer); };
    context.changed = [this] { ++changed_; };
    exporter_ = std::make_unique<PieceExporter>(*ledger, std::move(context));
  }
  void TearDown() override { exporter_.reset(); }
  ExportQuestion question(std::uint64_t recovery = kRecovery) const { return {recovery, id(1), {0}, {}, 0}; }
  /// Asks as often as needed.
  ExportedPieces exported(const ExportQuestion& asked, std::uint64_t peer = kAsker) {
    base::Result<ExportAnswer> answer = ExportAnswer{};
    EXPECT_TRUE(test_support::eventually("what is asked for is exported", [&] {
      answer = exporter_->answer(peer, asked);
      EXPECT_TRUE(answer) << answer.error().text();
      EXPECT_TRUE(!answer || answer->ready || answer->part.empty());
      return !answer || answer->ready;
    }));
    return answer ? decode_exported_pieces(answer->part).value() : ExportedPieces{};
  }
  bool pinned() {
    const auto state = ledger->lock();
    return !state->held.evictable(*state->find(id(1)));
  }
  void expect_released() {
    EXPECT_TRUE(test_support::eventually("the version is pinned no more", [this] { return !pinned(); }));
  }

  std::set<std::uint64_t> gone_;
  std::atomic<int> placed_ = 0, changed_ = 0;
  std::unique_ptr<PieceExporter> exporter_;
};

TEST_F(Exporting, WhatIsAskedForIsThereAndStaysUntilTheRecoveryEnds) {
  EXPECT_FALSE(pinned());
  const auto all = exported(question());
  EXPECT_EQ(all.address, std::vector<std::byte>{std::byte{9}});
  ASSERT_EQ(all.pieces.size(), 1U);
  EXPECT_EQ(all.pieces[0].piece.rank, 0U);
  ASSERT_EQ(all.pieces[0].places.size(), 1U);
  EXPECT_TRUE(all.pieces[0].places[0]);
  EXPECT_TRUE(pinned());
  exporter_->end(kAsker, kRecovery + 1);
  exporter_->end(kAsker + 1, kRecovery);
  EXPECT_TRUE(pinned()) << "those are others' recoveries";
  const int before = changed_;
  exporter_->end(kAsker, kRecovery);
  EXPECT_FALSE(pinned());
  EXPECT_GT(changed_, before) << "whoever waits for room looks again";
}

TEST_F(Exporting, NothingElseIsExported) {
  auto other = question();
  other.pieces = {1};
  EXPECT_TRUE(exported(other).pieces.empty());
  EXPECT_EQ(placed_, 0) << "nothing is mapped for it";
  auto unknown = question(1);
  unknown.id = id(40);
  EXPECT_TRUE(exported(unknown).pieces.empty());
}

TEST_F(Exporting, RedundancyIsExportedForTheRanksOfItsGroupOnly) {
  const auto slot = core->room.take_for_redundancy(id(5), kChunk);
  ASSERT_TRUE(slot) << slot.error().text();
  ASSERT_TRUE(core->redundancy.keep(redundancy_set(5, {*slot})));  // for ranks 0, 1 and 2
  auto asked = question();
  asked.id = id(5);
  asked.redundancy = {2, 40};
  const auto all = exported(asked);
  ASSERT_EQ(all.parts.size(), 1U);
  EXPECT_EQ(all.parts[0].redundancy_set.id, protection_id(5));
  EXPECT_EQ(all.parts[0].places.size(), 1U);
  asked.recovery = 1;
  asked.redundancy = {3};
  EXPECT_TRUE(exported(asked).parts.empty());
}

// The version is no longer on this node, and a newer one has superseded it, so its redundancy would be evicted next.
TEST_F(Exporting, RedundancyStaysUntilTheRecoveryEnds) {
  ASSERT_TRUE(keep_one(5));
  core->redundancy.node_level_everywhere("app", id(6).attempt.created_ns, {id(5).attempt.created_ns});
  const auto supersede = [&] { core->redundancy.node_level_everywhere("app", id(6).attempt.created_ns); };
  auto asked = question();
  asked.id = id(5);
  asked.redundancy = {2};
  ASSERT_EQ(exported(asked).parts.size(), 1U);
  supersede();
  EXPECT_NE(core->redundancy.find(protection_id(5)), nullptr);
  EXPECT_EQ(core->redundancy.count_obsolete(0, id(7)), 0U);
  exporter_->end(kAsker, kRecovery);
  EXPECT_EQ(core->redundancy.count_obsolete(0, id(7)), 1U);
  supersede();
  EXPECT_EQ(core->redundancy.find(protection_id(5)), nullptr);
}

TEST_F(Exporting, AQuestionThatComesAgainGetsTheSameAndIsMadeOnce) {
  EXPECT_EQ(encode(exported(question())), encode(exported(question())));
  EXPECT_EQ(placed_, 1);
  exporter_->end(kAsker, kRecovery);
  EXPECT_FALSE(pinned());
}

TEST_F(Exporting, AQuestionThatComesAfterTheEndBeginsNothing) {
  exporter_->end(kAsker, kRecovery);
  const auto late = exporter_->answer(kAsker, question());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, PERDURE_CLOSED);
  EXPECT_FALSE(pinned());
}

TEST_F(Exporting, TwoRecoveriesHoldItBoth) {
  (void)exported(question(1));
  (void)exported(question(2));
  (void)exported(question(1), kAsker + 1);
  exporter_->end(kAsker, 1);
  EXPECT_TRUE(pinned());
  exporter_->lost(kAsker + 1);
  EXPECT_TRUE(pinned());
  exporter_->end(kAsker, 2);
  EXPECT_FALSE(pinned());
}

TEST_F(Exporting, WhenTheAskerIsLostItIsReleased) {
  (void)exported(question(1));
  (void)exported(question(2));
  exporter_->lost(kAsker);
  EXPECT_FALSE(pinned());
}

TEST_F(Exporting, AnAskerThatWasLostBeforeItsQuestionCameHoldsNothing) {
  gone_.insert(kAsker);
  (void)exporter_->answer(kAsker, question());
  ASSERT_TRUE(test_support::quiescent()) << "the thread has done then what it was about to do";
  EXPECT_FALSE(pinned());
}

TEST_F(Exporting, WhatEndsWhileItIsMadeIsReleased) {
  for (std::uint64_t recovery = 0; recovery < 200; ++recovery) {
    ASSERT_TRUE(exporter_->answer(kAsker, question(recovery)));
    if (recovery % 3 != 0) os::sleep_ns(recovery * 300);  // wait: it ends at another moment each time
    exporter_->end(kAsker, recovery);
  }
  (void)exported(question(1000));  // made after those, so the thread is done with them
  exporter_->end(kAsker, 1000);
  EXPECT_FALSE(pinned());
}

TEST_F(Exporting, AnotherLaunchAndTheEndReleaseAll) {
  (void)exported(question(1));
  exporter_->end_all();
  EXPECT_FALSE(pinned());
  (void)exported(question(2));
  exporter_->stop();
  EXPECT_FALSE(pinned());
  const auto after = exporter_->answer(kAsker, question(3));
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, PERDURE_CLOSED);
}

TEST_F(Exporting, WhatDoesNotFitIsRefused) {
  const auto bytes = encode(exported(question()));
  auto other = question();
  other.id = id(3);
  EXPECT_EQ(exporter_->answer(kAsker, other).error().code, PERDURE_CORRUPT);
  auto beyond = question();
  beyond.offset = bytes.size();
  EXPECT_TRUE(exporter_->answer(kAsker, beyond)->part.empty());
  ++beyond.offset;
  EXPECT_EQ(exporter_->answer(kAsker, beyond).error().code, PERDURE_CORRUPT);
  auto part = question();
  part.offset = 3;
  EXPECT_EQ(exporter_->answer(kAsker, part)->part, std::vector<std::byte>(bytes.begin() + 3, bytes.end()));
}

TEST_F(Exporting, OnePeerCannotHoldAnyNumberOfRecoveries) {
  for (std::uint64_t recovery = 0; recovery < PieceExporter::kMostOfAPeer; ++recovery)
    ASSERT_TRUE(exporter_->answer(kAsker, question(recovery)));
  EXPECT_EQ(exporter_->answer(kAsker, question(4000)).error().code, PERDURE_BUSY);
  EXPECT_TRUE(exporter_->answer(kAsker + 1, question(4000))) << "others are served";
  for (std::uint64_t recovery = 0; recovery < 2 * PieceExporter::kEndedRemembered; ++recovery)
    exporter_->end(kAsker, recovery);
  EXPECT_TRUE(exporter_->answer(kAsker, question(4001)));
}

TEST_F(Exporting, TheVersionIsPinnedBeforeTheFirstAnswer) {
  ASSERT_TRUE(exporter_->answer(kAsker, question()));
  EXPECT_TRUE(pinned()) << "whether the thread has begun or not";
}

TEST_F(Exporting, TheRestOfAnAnswerWhoseBeginningWasForgottenBeginsNothing) {
  auto rest = question();
  rest.offset = 1;
  const auto refused = exporter_->answer(kAsker, rest);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_PEER_FAILED);
  EXPECT_TRUE(refused.error().retryable) << "it is asked for anew, from the beginning";
  EXPECT_FALSE(pinned());
}

TEST_F(Exporting, WhenAnotherLaunchBeginsEverythingIsReleasedAtOnce) {
  (void)exported(question(1));
  exporter_->close();
  EXPECT_FALSE(pinned());
  const auto late = exporter_->answer(kAsker, question(2));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, PERDURE_CLOSED);
}

}  // namespace
}  // namespace perdure::engine
