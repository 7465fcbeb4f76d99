// Tests flushes that begin before the commit, with threads and a store: failures, damage, and versions given up.
#include <filesystem>

#include "engine/flush/flusher_testing.hpp"

namespace perdure::engine {
namespace {

class FlusherCapture : public FlusherFixture {
 protected:
  void start(std::uint64_t room, std::uint64_t give_up_after_ns = kHour,
             DuringCapture mode = DuringCapture::automatic) {
    flusher.reset();
    open({room}, early(mode));
    made = std::move(*store::make_store(directory / "store"));
    FlusherOptions options;
    options.backoff = {kMillisecond, 4 * kMillisecond, give_up_after_ns};
    options.room = [] {};
    flusher = std::make_unique<Flusher>(*ledger, *made, reports, options, [](const segment::VersionId&, bool) {});
  }
  /// Captures one rank and notes each chunk as soon as it gets a slot. False if a slot is refused.
  bool capture(std::uint64_t version, std::uint32_t chunks) {
    {
      const auto guard = ledger->lock();
      announce(1, id(version), chunks);
    }
    for (std::uint32_t c = 0; c < chunks; ++c) {
      GrantOutcome outcome;
      const bool answered = await("the capture is granted a slot", [&] {
        outcome = grant(1, id(version));
        if (outcome.kind == GrantOutcome::Kind::granted) tell(1, id(version), c, outcome.address);
        return outcome.kind != GrantOutcome::Kind::wait;
      });
      if (!answered || outcome.kind == GrantOutcome::Kind::refused) {
        refusal = outcome.error;
        return false;
      }
      slots.push_back(outcome.address);
      flusher->reevaluate_captures();
    }
    return true;
  }
  bool stage_and_commit(std::uint64_t version) {
    const auto guard = ledger->lock();
    return stage_slots(1, id(version), slots) && core->held.commit(commit_of(id(version))).has_value();
  }
  bool await_stored(std::uint64_t version) {
    flusher->reevaluate_captures();
    flusher->notify();
    return await("version " + std::to_string(version) + " is stored",
                 [&] { return core->find(id(version)) != nullptr && core->find(id(version))->all_stored(); });
  }
  void expect_stored(std::uint64_t version) {
    const auto listings = made->list("app");
    ASSERT_TRUE(listings && !listings->empty());
    EXPECT_EQ(listings->back().id, id(version));
    auto manifests = store::read_version(*made, listings->back());
    ASSERT_TRUE(manifests) << manifests.error().text();
    auto source = made->open(listings->back().segments[0]);
    EXPECT_TRUE(segment::verify(**source, nullptr).empty());
  }
  /// Captures six chunks while the store fails as the rules say.
  void expect_stored_in_spite_of(const char* rules) {
    os::FaultRules faults(*os::parse_fault_rules(rules));
    test_support::InstalledHooks installed(faults);
    ASSERT_TRUE(capture(1, 6));
    ASSERT_TRUE(stage_and_commit(1));
    ASSERT_TRUE(await_stored(1));
    flusher->stop();
    expect_stored(1);
  }
  bool store_is_empty() const { return !std::filesystem::exists(directory / "store/app/1"); }
  /// Returns the path of the temporary segment; empty if there is none.
  std::string temporary() const {
    if (store_is_empty()) return {};
    for (const auto& entry : std::filesystem::directory_iterator(directory / "store/app/1"))
      if (entry.path().filename().string().starts_with(".tmp-")) return entry.path();
    return {};
  }
  std::vector<tier::SlotAddress> slots;
  base::Error refusal;
};

TEST_F(FlusherCapture, ALargeCaptureGoesThroughOneSlot) {
  start(1);
  ASSERT_TRUE(capture(1, 7));
  ASSERT_TRUE(stage_and_commit(1));
  ASSERT_TRUE(await_stored(1));
  expect_stored(1);
  EXPECT_TRUE(await("nothing is left to be flushed", [&] {
    return core->flushes.next_leftover() == std::nullopt && core->flushes.next() == std::nullopt;
  }));
  EXPECT_TRUE(taken_reports().empty());
}

TEST_F(FlusherCapture, AnAbortLeavesNothingInTheStoreAndNothingInUse) {
  start(1);
  ASSERT_TRUE(capture(1, 3));
  EXPECT_TRUE(std::filesystem::exists(temporary()));
  {
    const auto guard = ledger->lock();
    ASSERT_TRUE(core->held.abort(1, id(1)));
  }
  flusher->reevaluate_captures();
  EXPECT_TRUE(await("nothing is in use, and the store is empty", [&] { return used(0) == 0 && store_is_empty(); }));
  flusher->notify();
  EXPECT_TRUE(await("no leftover is left", [&] { return !core->flushes.next_leftover(); }));
}

TEST_F(FlusherCapture, AStoreThatFailsForAWhileDelaysTheCaptureAndLosesNothing) {
  start(1);
  expect_stored_in_spite_of("pwrite:/store:EIO:3:2");
}

// A failed sync does not say which bytes are on disk. So everything is written again, even chunks that have no slot any
// more.
TEST_F(FlusherCapture, WhatHasNoSlotAnyMoreIsWrittenAgainAfterASyncThatFailed) {
  start(2);
  expect_stored_in_spite_of("fdatasync:/store:EIO:1:2");
}

TEST_F(FlusherCapture, AndAfterAPublicationWhoseDirectoryCouldNotBeSynced) {
  start(2);
  expect_stored_in_spite_of("fsync_dir:/store/app/1:EIO:1:3");
  EXPECT_EQ(made->list("app")->size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(temporary()));
}

TEST_F(FlusherCapture, AStoreThatIsGivenUpFailsTheCaptureWithItsError) {
  start(1, 0);
  os::FaultRules faults(*os::parse_fault_rules("pwrite:/store:EACCES"));
  test_support::InstalledHooks installed(faults);
  EXPECT_FALSE(capture(1, 3));
  EXPECT_NE(refusal.text().find(directory / "store"), std::string::npos) << refusal.text();
  flusher->stop();
  EXPECT_TRUE(store_is_empty());
}

TEST_F(FlusherCapture, AChunkThatChangesInItsSlotFailsTheCapture) {
  start(2);
  {
    const auto guard = ledger->lock();
    announce(1, id(1), 3);
    const auto slot = write(1, id(1), 0);
    const std::byte flipped{1};
    ASSERT_TRUE(os::File::open(slot.path, os::Open::read_write)->write(slot.offset + 5, {&flipped, 1}));
    slots.push_back(slot);
  }
  flusher->reevaluate_captures();
  // Until then it is refused because two chunks are missing.
  EXPECT_TRUE(await("the piece is refused as damaged",
                    [&] { return core->held.stage(1, staged(id(1), slots)).error().code == PERDURE_CORRUPT; }));
  flusher->stop();
  const auto told = taken_reports();
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told.back().find("was given up"), std::string::npos) << told.back();
}

/// A hook that fails every write to the store until it is opened.
class ClosedStore : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    const bool written =
        std::string_view(operation.call) == "pwrite" && operation.path.find("/store/") != std::string::npos;
    if (!written) return 0;
    EXPECT_TRUE(test_support::eventually("the store is opened", [this] { return !closed; }));
    return 0;
  }
  void after(const os::Operation&, int) override {}
  std::atomic<bool> closed = true;
};

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator begin("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

TEST_F(FlusherCapture, ManyThatWaitForTheStoreTakeAFixedNumberOfThreads) {
  ClosedStore closed;
  const test_support::InstalledHooks installed(closed);
  start(64, kHour, DuringCapture::always);
  const std::size_t idle = threads_of_this_process();
  for (std::uint64_t version = 1; version <= 20; ++version) {
    slots.clear();
    ASSERT_TRUE(capture(version, 3));
    ASSERT_TRUE(stage_and_commit(version));
    flusher->notify();
  }
  EXPECT_LE(threads_of_this_process(), idle + kCaptureLeads + 2 * FlusherOptions().threads);
  closed.closed = false;
  for (std::uint64_t version = 1; version <= 20; ++version)
    ASSERT_TRUE(await("version " + std::to_string(version) + " is stored", [&] {
      const auto* held = core->find(id(version));
      return held == nullptr || held->all_stored();  // a stored version may have been dropped
    }));
  EXPECT_EQ(made->list("app")->size(), 20u);
}

// There are more captures than are flushed at once, and each wants slots that others hold. A capture that waits for its
// ranks must not keep another from the store.
TEST_F(FlusherCapture, ManyOpenOnesWhoseRanksWaitForSlotsDoNotStarveOneAnother) {
  constexpr std::uint64_t kCaptures = 7;
  constexpr std::uint32_t kChunks = 4;
  start(2);
  std::vector<std::vector<tier::SlotAddress>> theirs(kCaptures);
  const auto name = [](std::uint64_t capture) { return id(1, "app" + std::to_string(capture)); };
  {
    const auto guard = ledger->lock();
    for (std::uint64_t c = 0; c < kCaptures; ++c) announce(1, name(c), kChunks);
  }
  flusher->reevaluate_captures();
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk)
    for (std::uint64_t c = 0; c < kCaptures; ++c) {
      ASSERT_TRUE(await("the capture is granted a slot",
                        [&] {
                          const auto outcome = grant(1, name(c));
                          if (outcome.kind != GrantOutcome::Kind::granted) return false;
                          tell(1, name(c), chunk, outcome.address);
                          theirs[c].push_back(outcome.address);
                          return true;
                        }))
          << "chunk " << chunk << " of capture " << c;
      flusher->reevaluate_captures();
    }
  for (std::uint64_t c = 0; c < kCaptures; ++c) {
    {
      const auto guard = ledger->lock();
      ASSERT_TRUE(stage_slots(1, name(c), theirs[c]));
      ASSERT_TRUE(core->held.commit(commit_of(name(c))));
    }
    flusher->reevaluate_captures();
    flusher->notify();
  }
  for (std::uint64_t c = 0; c < kCaptures; ++c)
    EXPECT_TRUE(await("capture " + std::to_string(c) + " is stored", [&] {
      const auto* held = core->find(name(c));
      return held == nullptr || held->all_stored();
    }));
  flusher->stop();
  for (std::uint64_t c = 0; c < kCaptures; ++c) EXPECT_EQ(made->list("app" + std::to_string(c))->size(), 1u) << c;
  EXPECT_TRUE(taken_reports().empty());
}

class FlusherResumed : public FlusherCapture {
 protected:
  /// Leaves a committed version whose chunks are only in the temporary segment, and no engine.
  void leave_half_done() {
    start(2);
    os::FaultRules faults(*os::parse_fault_rules("fdatasync:/.tmp-:EIO"));
    test_support::InstalledHooks installed(faults);
    ASSERT_TRUE(capture(1, 5));
    ASSERT_TRUE(stage_and_commit(1));
    flusher->reevaluate_captures();
    flusher->stop();
    ASSERT_TRUE(core->find(id(1))->spilled(0));
    ASSERT_TRUE(std::filesystem::exists(temporary()));
    (void)taken_reports();  // the failed sync, if the flush came so far
  }
};

TEST_F(FlusherResumed, AnotherEngineGoesOnWithTheTemporarySegment) {
  leave_half_done();
  start(2);
  ASSERT_TRUE(await_stored(1));
  expect_stored(1);
  flusher->stop();
  EXPECT_FALSE(std::filesystem::exists(temporary()));
}

TEST_F(FlusherResumed, WhatChangedThereIsNeverPublished) {
  leave_half_done();
  std::uint64_t at = 0;
  const auto& chunks = core->find(id(1))->pieces.at(0).chunks;
  for (const auto& chunk : chunks)
    if (chunk.place == catalog::kInTemporarySegment) at = chunk.offset;
  const std::byte flipped{1};
  ASSERT_TRUE(os::File::open(temporary(), os::Open::read_write)->write(at + 77, {&flipped, 1}));
  start(2);
  flusher->notify();
  EXPECT_TRUE(await("the flush is given up", [&] { return core->version(id(1))->flush == FlushPhase::given_up; }));
  flusher->stop();
  const auto listings = made->list("app");
  EXPECT_TRUE(!listings || listings->empty());
  const auto told = taken_reports();
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told[0].find("temporary segment"), std::string::npos) << told[0];
}

TEST_F(FlusherResumed, ATemporarySegmentThatIsGoneIsReportedAndNotWaitedFor) {
  leave_half_done();
  std::filesystem::remove(temporary());
  start(2);
  flusher->notify();
  EXPECT_TRUE(await("the flush is given up", [&] { return core->version(id(1))->flush == FlushPhase::given_up; }));
  flusher->stop();
  const auto told = taken_reports();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("is gone"), std::string::npos) << told[0];
}

}  // namespace
}  // namespace perdure::engine
