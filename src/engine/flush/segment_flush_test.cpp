#include "engine/flush/segment_flush.hpp"

#include <filesystem>

#include "engine/flush/flush_source_testing.hpp"
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
    source.address = [this](const FlushedChunk& chunk) {
      return core->address({chunk.slot.second, chunk.bytes, {}, chunk.slot.first});
    };
    source.on_stored = [this](std::uint32_t segment) {
      stored.push_back(segment);
      return core->flushes.segment_stored(id(1), segment);
    };
  }
  FlushJob job() {
    FlushJob job{*core->find(id(1))};
    job.threads = 3;
    return job;
  }
  FlushOutcome flush_it() { return flush(*made, slots, job(), source, pool); }
  /// Expects that the flush failed, published nothing and left nothing.
  void expect_nothing_in_the_store() {
    EXPECT_TRUE(stored.empty());
    EXPECT_FALSE(std::filesystem::exists(directory / "store/app/1"));
  }
  ScriptedSource source;
  std::unique_ptr<store::Store> made;
  tier::SlotAddress bad;
  tier::SlotIo slots;
  ChunkPool pool{6};
  std::vector<std::uint32_t> stored;
};

TEST_F(SegmentFlush, WritesAVersionThatIsCompleteAndHoldsTheChunks) {
  const FlushOutcome outcome = flush_it();
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
  open({4, 8});  // version 1 has three chunks in the first tier
  std::vector<tier::SlotAddress> both{grant(1, id(2)).address, grant(1, id(2)).address};
  ASSERT_EQ(both[0].tier + both[1].tier, 1u);
  ASSERT_TRUE(core->held.stage(1, staged(id(2), both)));
  ASSERT_TRUE(core->held.commit(commit_of(id(2))));
  FlushJob flush_job{*core->find(id(2))};
  flush_job.threads = 1;
  flush_job.read_bytes_per_s = {1e9, 1e7};
  std::vector<std::uint32_t> begun;
  std::uint64_t bytes = 0;
  source.on_stored = [](std::uint32_t) { return base::Status(); };
  source.on_begin = [&](const FlushedChunk& chunk) {
    begun.push_back(chunk.slot.first);
    return true;
  };
  source.on_end = [&](const FlushedChunk& chunk, bool well) { bytes += well ? chunk.bytes : 0; };
  ASSERT_TRUE(flush(*made, slots, flush_job, source, pool).status);
  EXPECT_EQ(begun, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(bytes, 2 * kChunk);
}

TEST_F(SegmentFlush, LeavesOutWhatIsStoredAlready) {
  ASSERT_TRUE(core->flushes.segment_stored(id(1), 0));
  ASSERT_TRUE(flush_it().status);
  EXPECT_EQ(stored, (std::vector<std::uint32_t>{1}));
}

TEST_F(SegmentFlush, NeverPublishesAChunkThatChangedInItsSlotAndNamesIt) {
  const std::byte flipped{1};
  ASSERT_TRUE(os::File::open(bad.path, os::Open::read_write)->write(4711, base::ConstByteSpan(&flipped, 1)));
  const FlushOutcome outcome = flush_it();
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
  source.cut = true;
  const FlushOutcome outcome = flush_it();
  ASSERT_FALSE(outcome.status);
  EXPECT_TRUE(outcome.status.error().retryable);
  EXPECT_GT(source.woken, 0) << "who waits for news or at the gate is woken";
  expect_nothing_in_the_store();
}

TEST_F(SegmentFlush, AChunkThatIsGoneGivesTheVersionUpAndEndsItsVisit) {
  std::atomic<int> ended = 0;
  source.on_begin = [](const FlushedChunk& chunk) { return chunk.name.chunk != 1; };
  source.on_end = [&](const FlushedChunk& chunk, bool well) {
    ++ended;
    EXPECT_FALSE(well && chunk.name.chunk == 1);
  };
  const FlushOutcome outcome = flush_it();
  ASSERT_FALSE(outcome.status);
  EXPECT_TRUE(outcome.gone);
  EXPECT_FALSE(outcome.damaged);
  EXPECT_GE(ended, 1);
  expect_nothing_in_the_store();
}

TEST_F(SegmentFlush, IsNotPublishedWhereItsTurnDoesNotCome) {
  source.the_turn = FlushSource::Turn::gone;
  const FlushOutcome outcome = flush_it();
  ASSERT_FALSE(outcome.status);
  EXPECT_TRUE(outcome.gone);
  expect_nothing_in_the_store();
}

TEST_F(SegmentFlush, TellsOfEveryChunkWhenItWritesToTheStore) {
  std::mutex mutex;
  std::map<ChunkName, std::vector<bool>> told;
  source.on_reads = [&](const FlushedChunk& chunk, bool reading) {
    const std::lock_guard lock(mutex);
    told[chunk.name].push_back(reading);
  };
  ASSERT_TRUE(flush_it().status);
  EXPECT_EQ(told.size(), 3u);
  for (const auto& [name, turns] : told) EXPECT_EQ(turns, std::vector<bool>{false}) << name.rank << "/" << name.chunk;
  EXPECT_EQ(source.paced, 3 * kChunk);
}

TEST_F(SegmentFlush, AfterAFailureTheSegmentsThatWereStoredAreNotWrittenAgain) {
  {
    os::FaultRules faults(*os::parse_fault_rules("rename:/store:EIO:2"));
    test_support::InstalledHooks installed(faults);
    EXPECT_FALSE(flush_it().status);
  }
  ASSERT_TRUE(flush_it().status);
  EXPECT_EQ(stored, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(core->find(id(1))->all_stored());
}

}  // namespace
}  // namespace perdure::engine
