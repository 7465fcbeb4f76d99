#include "engine/flush/segment_flush.hpp"

#include <filesystem>

#include "engine/ledger/node_state_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::engine {
namespace {

class SegmentFlush : public NodeStateFixture {
 protected:
  void SetUp() override {
    open({8});
    made = std::move(*store::make_store(directory / "store"));
    ASSERT_TRUE(made->prepare());
    std::vector<tier::SlotAddress> first{grant(1, id(1)).address, grant(1, id(1)).address},
        second{grant(2, id(1)).address};
    auto stage = staged(id(1), first);
    stage.ranks = 2;
    ASSERT_TRUE(core->held.stage(1, stage));
    stage = staged(id(1), second, 1);
    stage.ranks = 2;
    ASSERT_TRUE(core->held.stage(2, stage));
    ASSERT_TRUE(core->held.commit({id(1), {{0, 2, {0}}, {1, 2, {1}}}}));
    bad = first[1];
  }
  FlushJob job() {
    FlushJob job;
    job.version = *core->find(id(1));
    job.address = [this](const segment::ChunkEntry& chunk) { return core->address(chunk); };
    job.threads = 3;
    job.stored = [this](std::uint32_t segment) {
      stored.push_back(segment);
      return core->flushes.segment_stored(id(1), segment);
    };
    return job;
  }
  std::unique_ptr<store::Store> made;
  tier::SlotAddress bad;
  tier::SlotIo slots;
  std::vector<std::uint32_t> stored;
};

TEST_F(SegmentFlush, WritesAVersionThatIsCompleteAndHoldsTheChunks) {
  const FlushOutcome outcome = flush(*made, slots, job());
  ASSERT_TRUE(outcome.status) << outcome.status.error().text();
  EXPECT_EQ(stored, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_GT(outcome.bytes, 3 * kChunk);
  auto listings = made->list("app");
  ASSERT_TRUE(listings);
  ASSERT_EQ(listings->size(), 1u);
  auto manifests = store::read_version(*made, listings->front());
  ASSERT_TRUE(manifests) << manifests.error().text();
  EXPECT_EQ(manifests->at(0).pieces[0].chunks.size(), 2u);
  EXPECT_EQ(manifests->at(0).pieces[0].chunks[1].hash, content_hash());
}

TEST_F(SegmentFlush, BeginsWithTheTierThatTakesLongestAndWatchesEachChunk) {
  open({4, 8});  // version 1 has three of the first tier
  std::vector<tier::SlotAddress> both{grant(1, id(2)).address, grant(1, id(2)).address};
  ASSERT_EQ(both[0].tier + both[1].tier, 1u);
  ASSERT_TRUE(core->held.stage(1, staged(id(2), both)));
  ASSERT_TRUE(core->held.commit(commit_of(id(2))));
  FlushJob flush_job = job();
  flush_job.version = *core->find(id(2));
  flush_job.stored = [](std::uint32_t) { return base::Status(); };
  flush_job.threads = 1;
  flush_job.read_bytes_per_s = {1e9, 1e7};
  std::vector<std::uint32_t> begun;
  std::uint64_t bytes = 0;
  flush_job.chunk_begins = [&](const FlushedChunk& chunk) {
    begun.push_back(chunk.slot.first);
    return metrics::FlushRate::Started{};
  };
  flush_job.chunk_ended = [&](const FlushedChunk& chunk, const auto&, bool well) { bytes += well ? chunk.bytes : 0; };
  ASSERT_TRUE(flush(*made, slots, flush_job).status);
  EXPECT_EQ(begun, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(bytes, 2 * kChunk);
}

TEST_F(SegmentFlush, LeavesOutWhatIsStoredAlready) {
  ASSERT_TRUE(core->flushes.segment_stored(id(1), 0));
  ASSERT_TRUE(flush(*made, slots, job()).status);
  EXPECT_EQ(stored, (std::vector<std::uint32_t>{1}));
}

TEST_F(SegmentFlush, NeverPublishesAChunkThatChangedInItsSlotAndNamesIt) {
  const std::byte flipped{1};
  ASSERT_TRUE(os::File::open(bad.path, os::Open::read_write)->write(4711, base::ConstByteSpan(&flipped, 1)));
  const FlushOutcome outcome = flush(*made, slots, job());
  ASSERT_FALSE(outcome.status);
  EXPECT_EQ(outcome.status.error().code, PERDURE_CORRUPT);
  EXPECT_TRUE(outcome.damaged);
  EXPECT_EQ(outcome.rank, 0u);
  EXPECT_EQ(outcome.chunk, 1u);
  EXPECT_NE(outcome.status.error().text().find(bad.path), std::string::npos);
  auto listings = made->list("app");
  EXPECT_TRUE(!listings || listings->empty());
}

TEST_F(SegmentFlush, StopsAtTheNextBlockWhenItIsCancelledAndLeavesNothing) {
  const std::atomic<bool> cancelled = true;
  FlushJob cut = job();
  cut.cancelled = &cancelled;
  const FlushOutcome outcome = flush(*made, slots, cut);
  ASSERT_FALSE(outcome.status);
  EXPECT_TRUE(outcome.status.error().retryable);
  EXPECT_TRUE(stored.empty());
  EXPECT_FALSE(std::filesystem::exists(directory / "store/app/1"));
}

TEST_F(SegmentFlush, AfterAFailureTheSegmentsThatWereStoredAreNotWrittenAgain) {
  {
    os::FaultRules faults(*os::parse_fault_rules("rename:/store:EIO:2"));
    test_support::InstalledHooks installed(faults);
    EXPECT_FALSE(flush(*made, slots, job()).status);
  }
  ASSERT_TRUE(flush(*made, slots, job()).status);
  EXPECT_EQ(stored, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(core->find(id(1))->all_stored());
}

}  // namespace
}  // namespace perdure::engine
