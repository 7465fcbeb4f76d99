#include "engine/flush/flusher.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>

#include "engine/flush/flusher_testing.hpp"
#include "os/hooks.hpp"

namespace perdure::engine {
namespace {

class FlusherTest : public FlusherFixture {
 protected:
  void start(plan::Backoff backoff = {kMillisecond, 4 * kMillisecond, kHour}) {
    options.backoff = backoff;
    open({8});
    made = std::move(*store::make_store(directory / "store"));
    options.keep_in_tiers = 8;
    flusher = std::make_unique<Flusher>(
        *ledger, *made, reports, options,
        [this](const segment::VersionId&, bool) {
          ++attempts;
          EXPECT_TRUE(test_support::eventually("the test lets go of who is told", [this] { return !held; }));
        },
        [this] { ++rests; });
  }
  void commit(std::uint64_t version) {
    {
      const auto guard = ledger->lock();
      ASSERT_TRUE(checkpoint(version));
    }
    flusher->notify();
  }
  bool await_stored(std::uint64_t version) {
    return await("version " + std::to_string(version) + " is stored", [&] {
      return core->find(id(version))->all_stored() && core->version(id(version))->flush == FlushPhase::queued;
    });
  }
  bool await_given_up(std::uint64_t version) {
    return await("version " + std::to_string(version) + " is given up",
                 [&] { return core->version(id(version))->flush == FlushPhase::given_up; });
  }
  FlusherOptions options;
  std::atomic<int> attempts = 0, rests = 0;
  std::atomic<bool> held = false;  ///< blocks everybody who is told of an attempt
};

TEST_F(FlusherTest, StoresWhatWasCommittedAndReportsNothing) {
  start();
  for (std::uint64_t version : {1, 2, 3}) commit(version);
  EXPECT_TRUE(await_stored(3));
  flusher->stop();
  EXPECT_EQ(made->list("app")->size(), 3u);
  EXPECT_TRUE(taken_reports().empty());
  EXPECT_EQ(attempts, 3);
}

TEST_F(FlusherTest, GivesUpWhatWasForgottenOnPurposeOnceNobodyReadsIt) {
  std::vector<segment::VersionId> told;
  options.forgotten = [&told](const segment::VersionId& which) { told.push_back(which); };
  start();
  ASSERT_TRUE(made->prepare());
  ASSERT_TRUE(made->forget("app", 2));
  {
    const auto guard = ledger->lock();
    ASSERT_TRUE(checkpoint(2));
    core->held.pin(7, id(2));
  }
  flusher->notify();
  EXPECT_TRUE(await_given_up(2));
  {
    const auto guard = ledger->lock();
    EXPECT_NE(core->find(id(2)), nullptr);
    core->held.unpin(7);
  }
  commit(3);
  EXPECT_TRUE(await_stored(3));
  flusher->stop();
  EXPECT_EQ(core->find(id(2)), nullptr);
  EXPECT_EQ(core->pending_versions(), 0U);
  EXPECT_EQ(used(0), 1U);
  EXPECT_EQ(told, std::vector{id(2)}) << "before it was dropped";
  const auto said = taken_reports();
  EXPECT_EQ(std::count_if(said.begin(), said.end(),
                          [](const std::string& text) {
                            return text.find("app version 2: it was forgotten on purpose (perdure forget); what") == 0;
                          }),
            1);
}

TEST_F(FlusherTest, AStoreThatWasRemovedGetsAgainWhatItHadOldestFirst) {
  options.threads = 1;
  start();
  held = true;
  for (std::uint64_t version : {1, 2}) commit(version);
  held = false;
  ASSERT_TRUE(await_stored(2));
  std::filesystem::remove_all(directory / "store");
  ASSERT_TRUE(made->prepare());
  {
    const auto guard = ledger->lock();
    for (std::uint64_t version : {1, 2}) core->held.pin(7, id(version));
  }
  commit(3);
  EXPECT_TRUE(await_stored(3));
  flusher->stop();
  EXPECT_EQ(made->list("app")->size(), 3U);
  const auto told = taken_reports();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("nothing any more of what this node brought there of app (2 versions)"), std::string::npos)
      << told[0];
}

store::Owner owner_of(const std::string& job) {
  store::Owner owner;
  owner.job = job;
  owner.ended = true;
  return owner;
}

TEST_F(FlusherTest, WhatNobodyOwnsBelongsToTheJobThatCapturedIt) {
  options.owner = owner_of("mine");
  start();
  commit(1);
  ASSERT_TRUE(await_stored(1));
  flusher->stop();
  EXPECT_EQ(made->owner("app").value(), owner_of("mine"));
}

TEST_F(FlusherTest, NothingIsBroughtUnderTheNameOfAnotherJob) {
  options.owner = owner_of("mine");
  start();
  ASSERT_TRUE(made->prepare());
  ASSERT_TRUE(made->set_owner("app", std::nullopt, owner_of("other")));
  commit(1);
  EXPECT_TRUE(await_given_up(1));
  flusher->stop();
  EXPECT_EQ(made->owner("app").value(), owner_of("other"));
  EXPECT_TRUE(made->list("app")->empty());
  const auto told = taken_reports();
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told[0].find("it belongs to job 'other'"), std::string::npos) << told[0];
}

// This node's part at the store proves nothing: other nodes may never store theirs.
TEST_F(FlusherTest, GivesUpWhatCannotBeReachedForAVersionThatTheStoreHasWhole) {
  open({1, 8});
  ASSERT_TRUE(checkpoint(1));  // in the first tier, which the next launch lacks
  close();
  std::vector<std::unique_ptr<tier::Tier>> tiers;
  tiers.push_back(std::move(*tier::make_tier("file", {0, directory / "tier1", kChunk, 8 * kChunk})));
  make(std::move(tiers), {});
  ASSERT_TRUE(core->recover());
  ASSERT_EQ(core->find(id(1))->unreachable.size(), 1U);
  made = std::move(*store::make_store(directory / "store"));
  options.keep_in_tiers = 8;
  flusher = std::make_unique<Flusher>(*ledger, *made, reports, options, [this](const auto&, bool) { ++attempts; });
  {
    const auto guard = ledger->lock();
    const auto granted = grant(1, id(2));
    ASSERT_TRUE(core->held.stage(1, staged(id(2), {granted.address})));
    ASSERT_TRUE(core->held.commit({id(2), {{0, 2, {0}}}}));
  }
  flusher->notify();
  EXPECT_TRUE(await("the first flush is over", [&] { return attempts == 1; }));
  EXPECT_TRUE(core->find(id(2))->all_stored());
  EXPECT_NE(core->find(id(1)), nullptr);
  commit(3);
  EXPECT_TRUE(await("the second flush is over", [&] { return attempts == 2; }));
  EXPECT_EQ(core->find(id(1)), nullptr);
}

// This is a lower bound only: load makes a machine slower, and none is faster than this.
TEST_F(FlusherTest, TheBandwidthLimitHoldsOverAllVersions) {
  options.max_bytes_per_s = 4 * kChunk;
  start();
  const std::uint64_t begin = os::monotonic_ns();
  for (std::uint64_t version : {1, 2, 3}) commit(version);
  ASSERT_TRUE(await_stored(3));
  EXPECT_GE(os::monotonic_ns() - begin, 3 * 1000 * kMillisecond / 4) << "three chunks, four a second";
}

// As far as the engine can tell, the application is three times as slow while a chunk is flushed.
TEST_F(FlusherTest, WhatTheApplicationFeelsTooMuchStaysHereUntilSomebodyWaitsForIt) {
  options.threads = 1;
  options.max_slowdown = 1e-7;  // then the pause after a chunk is a minute
  start();
  commit(1);
  ASSERT_TRUE(await_stored(1));
  {
    const auto guard = ledger->lock();
    const auto& first = core->find(id(1))->pieces.at(0).chunks[0];
    const FlushedChunk chunk{{0, 0}, {first.place, first.offset}, 4096, kChunk};
    for (int i = 0; i < 12; ++i) {
      os::shift_monotonic_clock(2 * kMillisecond);
      core->step(1, 0.001);
      const auto started = core->flushes.chunk_begins(id(1), chunk);
      ASSERT_TRUE(started);
      os::shift_monotonic_clock(4 * kMillisecond);
      core->step(1, 0.003);
      core->flushes.chunk_ended(id(1), chunk, *started, true, false);
    }
    ASSERT_GT(core->observed().interference.at_least().value_or(0), options.max_slowdown);
  }
  commit(2);
  EXPECT_TRUE(await_stored(2)) << "the first chunk is under way before it rests";
  commit(3);
  EXPECT_TRUE(await("the flush is held back", [&] { return flusher->gate_status().held_back == 1; }));
  EXPECT_FALSE(core->find(id(3))->all_stored());
  flusher->somebody_waits(true);
  EXPECT_TRUE(await_stored(3));
}

// Retention is told when a version is stored. An engine that ended between the two would leave that undone.
TEST_F(FlusherTest, IsIdleOnlyWhenEverybodyHasHeardOfWhatItDid) {
  start();
  held = true;
  commit(1);
  EXPECT_TRUE(await("the first flush is over", [&] { return attempts == 1; }));
  EXPECT_TRUE(core->find(id(1))->all_stored());
  EXPECT_FALSE(flusher->idle());
  EXPECT_EQ(rests, 0);
  held = false;
  EXPECT_TRUE(await("the flusher rests", [&] { return rests == 1; }));
  EXPECT_TRUE(flusher->idle());
}

TEST_F(FlusherTest, RetriesWhatCanPassAndSpeaksOfTheEpisodeAtItsBeginningAndItsEnd) {
  start();
  {
    os::FaultRules faults(*os::parse_fault_rules("pwrite:/store:ENOSPC"));
    test_support::InstalledHooks installed(faults);
    commit(1);
    commit(2);
    EXPECT_TRUE(await("flushes are tried again", [&] { return attempts > 5; }));
    // Only a flush uses the hooks; stop it before they go.
    flusher->stop();
  }
  const auto told = taken_reports();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find(directory / "store"), std::string::npos) << told[0];
  EXPECT_NE(told[0].find("free space"), std::string::npos) << told[0];
}

TEST_F(FlusherTest, GoesOnWhenTheStoreWorksAgain) {
  start();
  os::FaultRules faults(*os::parse_fault_rules("fdatasync:/store:EIO:1:3"));
  test_support::InstalledHooks installed(faults);
  commit(1);
  EXPECT_TRUE(await_stored(1));
  commit(2);
  EXPECT_TRUE(await_stored(2));
  flusher->stop();
  const auto told = taken_reports();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_NE(told[1].find("works again"), std::string::npos) << told[1];
}

TEST_F(FlusherTest, GivesUpAtOnceWhatCannotPassAndTriesItAgainAfterTheNextCommit) {
  start();
  os::FaultRules faults(*os::parse_fault_rules("mkdir:/store/app:EACCES:1:2"));
  test_support::InstalledHooks installed(faults);
  commit(1);
  EXPECT_TRUE(await_given_up(1));
  EXPECT_TRUE(await("the first flush is over", [&] { return attempts == 1; }));
  commit(2);
  EXPECT_TRUE(await_stored(1));
  EXPECT_TRUE(await_stored(2));
  flusher->stop();
  EXPECT_EQ(taken_reports().size(), 2u);  // one when it gave up, one when the store worked again
}

TEST_F(FlusherTest, GivesUpWhenTheTimeIsOver) {
  start({kMillisecond, kMillisecond, 0});
  os::FaultRules faults(*os::parse_fault_rules("pwrite:/store:EIO"));
  test_support::InstalledHooks installed(faults);
  for (std::uint64_t version : {1, 2, 3}) commit(version);
  EXPECT_TRUE(await_given_up(3));
  flusher->stop();
  const auto told = taken_reports();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("given up"), std::string::npos) << told[0];
}

TEST_F(FlusherTest, DoesNotMakeAStoreAnewThatVanished) {
  start();
  commit(1);
  ASSERT_TRUE(await_stored(1));
  std::filesystem::rename(directory / "store", directory / "away");
  commit(2);
  EXPECT_TRUE(await("the flush is tried again", [&] { return attempts > 3; }));
  EXPECT_FALSE(std::filesystem::exists(directory / "store"));
  std::filesystem::rename(directory / "away", directory / "store");
  EXPECT_TRUE(await_stored(2));
  flusher->stop();
  EXPECT_EQ(made->list("app")->size(), 2u);
}

TEST_F(FlusherTest, SetsADamagedVersionAsideAndGoesOnWithTheNext) {
  start();
  {
    const auto guard = ledger->lock();
    ASSERT_TRUE(checkpoint(1));
    const auto slot = core->address(core->find(id(1))->pieces.at(0).chunks[0]);
    const std::byte flipped{1};
    ASSERT_TRUE(os::File::open(slot.path, os::Open::read_write)->write(0, base::ConstByteSpan(&flipped, 1)));
  }
  commit(2);
  EXPECT_TRUE(await_stored(2));
  flusher->stop();
  const auto listings = made->list("app");
  ASSERT_TRUE(listings && listings->size() == 1);
  EXPECT_EQ(listings->front().id, id(2));
  const auto told = taken_reports();
  ASSERT_GE(told.size(), 2u);
  EXPECT_NE(told[0].find("quarantine: app version 1, rank 0, chunk 0"), std::string::npos) << told[0];
  EXPECT_NE(told[1].find("flush of app version 1 was given up"), std::string::npos) << told[1];
}

TEST_F(FlusherTest, EndsAtOnceWhileItWaitsForARetry) {
  start({kHour, kHour, 100 * kHour});
  os::FaultRules faults(*os::parse_fault_rules("pwrite:/store:EIO"));
  test_support::InstalledHooks installed(faults);
  commit(1);
  EXPECT_TRUE(await("the first flush is over", [&] { return attempts == 1; }));
  flusher->stop();
  EXPECT_EQ(core->pending_versions(), 1u);
}

// Counts reads of the tier, and writes to the store except for the beginning of a segment.
class TierAndStore : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    if (is(operation, "pread", true)) ++reads;
    return is(operation, "pwrite", false) ? store() : 0;
  }
  void after(const os::Operation& operation, int) override {
    if (is(operation, "pwrite", false)) --storing_;
  }
  std::atomic<int> reads = 0, most_storing = 0;
  int wait_for_reads = 0;          ///< so many reads come before the first write to the store
  std::function<void()> at_store;  ///< called before each write; may be empty

 private:
  static bool is(const os::Operation& operation, const std::string& call, bool tier) {
    const bool in_tier = operation.path.find("/tier0/") != std::string::npos;
    return operation.call == call && (tier ? in_tier : operation.path.find("/store/") != std::string::npos) &&
           (tier || operation.offset > 0);
  }
  int store() {
    if (at_store) at_store();
    const int now = ++storing_;
    for (int most = most_storing; now > most && !most_storing.compare_exchange_weak(most, now);) {
    }
    const bool all = test_support::eventually("chunks are read from the tier", [&] { return reads >= wait_for_reads; });
    os::sleep_ns(kMillisecond);  // wait: a slow store, to which as many write at once as may
    return all ? 0 : EIO;
  }
  std::atomic<int> storing_ = 0;
};

class FlusherOfASlowTier : public FlusherTest {
 protected:
  void flush(unsigned threads, std::size_t chunks) {
    options.threads = threads;
    start();
    {
      const auto guard = ledger->lock();
      std::vector<tier::SlotAddress> slots;
      for (std::size_t i = 0; i < chunks; ++i) slots.push_back(grant(1, id(1)).address);
      ASSERT_TRUE(core->held.stage(1, staged(id(1), slots)));
      ASSERT_TRUE(core->held.commit(commit_of(id(1))));
    }
    const test_support::InstalledHooks installed(hooks);
    flusher->notify();
    EXPECT_TRUE(await_stored(1));
    flusher->stop();
    EXPECT_TRUE(taken_reports().empty());
  }
  TierAndStore hooks;
};

TEST_F(FlusherOfASlowTier, ReadsItWhileTheStoreIsWritten) {
  hooks.wait_for_reads = 2;
  flush(1, 2);
}

TEST_F(FlusherOfASlowTier, WhoWritesToTheStoreIsNoReaderOfTheTierAnyMore) {
  unsigned looks = 0, most_readers = 0;
  hooks.at_store = [&] {
    const auto guard = ledger->lock();
    ++looks;
    most_readers = std::max(most_readers, core->outlook.tiers(9, {id(2), kChunk, 0, {}, {}}, false)[0].readers);
  };
  flush(1, 1);
  EXPECT_GT(looks, 0u);
  EXPECT_EQ(most_readers, 0u);
}

TEST_F(FlusherOfASlowTier, WritesToTheStoreWithNoMoreThreadsThanItMay) {
  flush(2, 8);
  EXPECT_LE(hooks.most_storing, 2);
  EXPECT_EQ(hooks.reads, 8);
}

}  // namespace
}  // namespace perdure::engine
