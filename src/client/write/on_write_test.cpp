// Checkpoints whose copying goes on after the call contain the memory at the call exactly, on all ranks or none.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "client/ranks_testing.hpp"
#include "client/write/capture_in_flight.hpp"
#include "os/hooks.hpp"
#include "os/write_protection.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::client {
namespace {

/// Stops the threads that copy until it is told otherwise.
class HeldCopiers : public os::Hooks {
 public:
  ~HeldCopiers() override { let_go(); }
  int before(const os::Operation& operation) override {
    if (std::string_view(operation.call) != "thread_body" || operation.path != "capture") return 0;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return free_; });
    return 0;
  }
  void hold() {
    const std::lock_guard lock(mutex_);
    free_ = false;
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    free_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool free_ = false;
};

/// Pages of one rank. The system gives new mappings from the upper end of freed memory: with more pages `behind` them,
/// they stay free for a while.
class Pages {
 public:
  explicit Pages(std::size_t bytes, std::size_t behind = 0) : bytes_(bytes), mapped_(bytes + behind) {
    constexpr int kKind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    memory_ = static_cast<std::byte*>(::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, kKind, -1, 0));
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { unmap(); }
  void unmap() {
    if (memory_ != nullptr) ::munmap(std::exchange(memory_, nullptr), mapped_);
  }
  std::byte* data() const { return memory_; }
  void fill(int value) const { std::memset(memory_, value, bytes_); }
  bool holds(int value) const {
    const std::vector<std::byte> expected(bytes_, static_cast<std::byte>(value));
    return std::memcmp(memory_, expected.data(), bytes_) == 0;
  }
  capture::Region region(std::int32_t id) const { return {id, memory_, 1, bytes_}; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_, mapped_;
};

base::ErrorCode code_of(const base::Status& status) { return status ? PERDURE_OK : status.error().code; }

class OnWrite : public JobOfThreads {
 protected:
  static constexpr std::size_t kMemory = 3 * base::MiB + 5000;
  OnWrite() {
    ranks_ = 2, per_node_ = 1;
    chunks_ = "chunk_bytes=1MiB;";
    more_ = "capture.mode=cow;tier.memory.max_bytes=64MiB;";
  }
  void SetUp() override {
    if (const auto opened = os::WriteProtection::open(); !opened) GTEST_SKIP() << opened.error().text();
  }
  /// Expects that `version` restores `pages`, which are protected.
  static void expect_restores(Session& session, const Pages& pages, std::int64_t version, int value) {
    pages.fill(99);
    const auto restored = session.restore("app", version, {});
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_TRUE(pages.holds(value)) << "version " << version;
  }
};

TEST_F(OnWrite, ACheckpointHasWhatWasThereAtTheCall) {
  HeldCopiers held;
  const test_support::InstalledHooks installed(held);
  on_sessions([&](Session& session, std::uint32_t rank) {
    const Pages pages(kMemory);
    const int value = 10 + static_cast<int>(rank);
    pages.fill(value);
    ASSERT_TRUE(session.protect(pages.region(1)));
    ASSERT_TRUE(session.checkpoint("app", 1));
    EXPECT_EQ(session.level_reached("app", 1).value(), PERDURE_LEVEL_NONE);
    pages.fill(20);
    EXPECT_EQ(session.level_reached("app", 1).value(), PERDURE_LEVEL_NONE);
    held.let_go();
    const auto waited = session.wait("app", 1, PERDURE_LEVEL_PROCESS, 60);
    ASSERT_TRUE(waited) << waited.error().text();
    EXPECT_GE(session.level_reached("app", 1).value(), PERDURE_LEVEL_PROCESS);
    expect_restores(session, pages, 1, value);
    ASSERT_TRUE(session.wait("app", 1, PERDURE_LEVEL_STORE, 60));
  });
}

TEST_F(OnWrite, EveryCollectiveCallFinishesTheOneBefore) {
  on_sessions([](Session& session, std::uint32_t) {
    const Pages pages(kMemory);
    ASSERT_TRUE(session.protect(pages.region(1)));
    for (int version = 1; version <= 8; ++version) {
      pages.fill(version);
      ASSERT_TRUE(session.checkpoint("app", version));
      pages.fill(50);
      if (version % 3 == 0) EXPECT_EQ(session.latest("app").value(), static_cast<std::uint64_t>(version));
      if (version % 4 == 0) EXPECT_TRUE(session.any(false));
    }
    // Older ones are retired when these are stored (retention.keep_last).
    for (int version = 7; version <= 8; ++version) expect_restores(session, pages, version, version);
  });
}

TEST_F(OnWrite, TheOnlyRankThereIsNeedsNoCallForLevelProcess) {
  ranks_ = 1;
  on_sessions([](Session& session, std::uint32_t) {
    const Pages pages(kMemory);
    pages.fill(4);
    ASSERT_TRUE(session.protect(pages.region(1)));
    ASSERT_TRUE(session.checkpoint("app", 1));
    pages.fill(5);
    ASSERT_TRUE(test_support::eventually(
        "level process is reached", [&] { return session.level_reached("app", 1).value() != PERDURE_LEVEL_NONE; }));
    perdure_progress progress{};
    EXPECT_TRUE(session.progress(progress));
    EXPECT_EQ(progress.last_bytes, kMemory);
    expect_restores(session, pages, 1, 4);
  });
}

// A program that checkpoints every ten minutes has its versions at the store when they are copied, not ten minutes
// later.
TEST_F(OnWrite, RanksOfOneNodeNeedNoCallForTheStore) {
  ranks_ = 3, per_node_ = 3;
  on_sessions([&](Session& session, std::uint32_t rank) {
    const Pages pages(kMemory);
    const int value = 20 + static_cast<int>(rank);
    pages.fill(value);
    ASSERT_TRUE(session.protect(pages.region(1)));
    ASSERT_TRUE(session.checkpoint("app", 1));
    pages.fill(30);
    const auto store = std::move(*store::make_store(directory_ / "store"));
    const auto is_stored = [&] {
      const auto listings = store->list("app");
      return listings && listings->size() == 1 && listings->front().all_present();
    };
    EXPECT_TRUE(test_support::eventually("version 1 is in the store", is_stored));
    ASSERT_TRUE(session.wait("app", 1, PERDURE_LEVEL_STORE, 60));
    expect_restores(session, pages, 1, value);
  });
}

TEST_F(OnWrite, UnprotectedMemoryMayBeGivenBackAtOnce) {
  on_sessions([](Session& session, std::uint32_t) {
    Pages pages(kMemory), others(kMemory);
    pages.fill(3);
    ASSERT_TRUE(session.protect(pages.region(1)));
    ASSERT_TRUE(session.checkpoint("app", 1));
    ASSERT_TRUE(session.unprotect(1));
    pages.unmap();
    ASSERT_TRUE(session.wait("app", 1, PERDURE_LEVEL_PROCESS, 60));
    ASSERT_TRUE(session.protect(others.region(1)));
    expect_restores(session, others, 1, 3);
    // Protects the same region at another address while it is captured.
    Pages third(kMemory);
    ASSERT_TRUE(session.checkpoint("app", 2));
    ASSERT_TRUE(session.protect(third.region(1)));
    others.unmap();
    ASSERT_TRUE(session.wait("app", 2, PERDURE_LEVEL_PROCESS, 60));
    expect_restores(session, third, 2, 3);
  });
}

// A call copies memory itself if its engine takes longer than 20 ms to grant a slot, as on a busy machine. Then
// unmapping does no harm, and the ranks commit: the test goes on to the next version.
TEST_F(OnWrite, MemoryThatIsUnmappedMeanwhileIsAnErrorOfAllAndTheVersionBeforeStays) {
  HeldCopiers held;
  constexpr int kMostVersions = 20;
  on_sessions([&](Session& session, std::uint32_t rank) {
    const Pages kept(kMemory);
    kept.fill(1);
    ASSERT_TRUE(session.protect(kept.region(1)));
    int version = 1;
    for (bool committed = true; committed;) {
      ASSERT_LT(version, kMostVersions) << "each call copied all memory itself";
      Pages dropped(kMemory, base::GiB);
      dropped.fill(1);
      ASSERT_TRUE(session.protect(dropped.region(2)));
      kept.fill(version);
      ASSERT_TRUE(session.checkpoint("app", version));
      ASSERT_TRUE(session.wait("app", version, PERDURE_LEVEL_PROCESS, 60));
      ++version;
      if (rank == 0) held.hold(), os::install_hooks(&held);
      EXPECT_TRUE(session.any(false));
      kept.fill(version);
      ASSERT_TRUE(session.checkpoint("app", version));
      if (rank == 1) {
        dropped.unmap();
        held.let_go();  // copies of both ranks: not before
      }
      const base::ErrorCode code = code_of(session.wait("app", version, PERDURE_LEVEL_PROCESS, 60));
      committed = code == PERDURE_OK;
      if (!committed) EXPECT_EQ(code, rank == 1 ? PERDURE_INVALID_ARGUMENT : PERDURE_PEER_FAILED);
      EXPECT_EQ(code_of(session.wait("app", version, PERDURE_LEVEL_PROCESS, 60)), code) << "as often as it is asked";
      EXPECT_EQ(session.level_reached("app", version).has_value(), committed);
      if (committed) ++version;
      if (committed) ASSERT_TRUE(session.unprotect(2));
    }
    if (rank == 1) {
      const auto report = session.next_report();
      ASSERT_TRUE(report) << report.error().text();
      EXPECT_NE(report->find("region 2: its memory, 3.0 MiB, is not there any more"), std::string::npos) << *report;
    }
    const Pages again(kMemory);
    ASSERT_TRUE(session.protect(again.region(2)));
    const int before = version - 1;
    EXPECT_EQ(session.latest("app").value(), static_cast<std::uint64_t>(before));
    expect_restores(session, kept, PERDURE_LATEST, before);
    kept.fill(90);
    ASSERT_TRUE(session.checkpoint("app", version));
    ASSERT_TRUE(session.wait("app", version, PERDURE_LEVEL_PROCESS, 60));
    expect_restores(session, kept, version, 90);
  });
  os::install_hooks(nullptr);
}

TEST_F(OnWrite, ChosenByWhatTheLastOneMetCopiesInTheCallWhereTheProgramWaitedForAllOfIt) {
  more_ = "capture.mode=auto;tier.memory.max_bytes=64MiB;retention.keep_last=10;";
  ranks_ = 1;
  if (os::WriteProtection::open()->reach() != os::WriteReach::all) GTEST_SKIP() << "auto protects nothing here";
  HeldCopiers held;
  const test_support::InstalledHooks installed(held);
  on_sessions([&](Session& session, std::uint32_t) {
    const Pages pages(kMemory);
    ASSERT_TRUE(session.protect(pages.region(1)));
    pages.fill(1);
    ASSERT_TRUE(session.checkpoint("app", 1));
    EXPECT_EQ(session.level_reached("app", 1).value(), PERDURE_LEVEL_NONE);
    pages.fill(2);  // waiting writes copy every block
    held.let_go();
    for (int version = 2; version < 6; ++version) {
      ASSERT_TRUE(session.checkpoint("app", version));
      EXPECT_GE(session.level_reached("app", version).value(), PERDURE_LEVEL_PROCESS);
      pages.fill(50);
      expect_restores(session, pages, version, version == 2 ? 2 : 50);
      pages.fill(50);
    }
    expect_restores(session, pages, 1, 1);
  });
}

TEST_F(OnWrite, TwoHandlesOverTheSameMemoryAreBothExact) {
  ranks_ = 1;
  const Pages pages(kMemory);
  on_sessions([&](Session& session, std::uint32_t) {
    test_support::TemporaryDirectory elsewhere;
    const std::string at = elsewhere.path();
    auto other = Session::open(comm::make_solo(), (options(more_) + "store.path=" + at + "/store;node.path=" + at +
                                                   "/node;tier.file.path=" + at + "/file;")
                                                      .c_str());
    ASSERT_TRUE(other) << other.error().text();
    ASSERT_TRUE(session.protect(pages.region(1)));
    ASSERT_TRUE((*other)->protect(pages.region(1)));
    for (int version = 1; version < 5; ++version) {
      pages.fill(version);
      ASSERT_TRUE(session.checkpoint("app", version));
      ASSERT_TRUE((*other)->checkpoint("app", version));
      pages.fill(100);
      ASSERT_TRUE(session.wait("app", version, PERDURE_LEVEL_PROCESS, 60));
      ASSERT_TRUE((*other)->wait("app", version, PERDURE_LEVEL_PROCESS, 60));
      expect_restores(session, pages, version, version);
      expect_restores(**other, pages, version, version);
    }
    EXPECT_TRUE((*other)->close());
  });
}

TEST_F(OnWrite, WaitsForSlotsAsEveryCheckpointDoes) {
  more_ = "capture.mode=cow;tier.order=memory;tier.memory.max_bytes=4MiB;";
  ranks_ = 1;
  on_sessions([](Session& session, std::uint32_t) {
    const Pages pages(10 * base::MiB);
    ASSERT_TRUE(session.protect(pages.region(1)));
    for (int version = 1; version < 4; ++version) {
      pages.fill(version);
      const auto made = session.checkpoint("app", version);
      ASSERT_TRUE(made) << made.error().text();
      pages.fill(100);
      const auto waited = session.wait("app", version, PERDURE_LEVEL_PROCESS, 60);
      ASSERT_TRUE(waited) << waited.error().text();
      expect_restores(session, pages, version, version);
    }
  });
}

// One rank has protected its memory and waits for the other, which waits for its slot.
TEST_F(OnWrite, ARankThatWaitsForTheOthersKeepsThemWaitingForNoSlot) {
  more_ = "capture.mode=cow;tier.order=memory;tier.memory.max_bytes=2MiB;";
  per_node_ = 2;
  on_sessions([](Session& session, std::uint32_t rank) {
    const Pages pages(base::MiB);
    ASSERT_TRUE(session.protect(pages.region(1)));
    for (int version = 1; version < 4; ++version) {
      pages.fill(10 * version + static_cast<int>(rank));
      const auto made = session.checkpoint("app", version);
      ASSERT_TRUE(made) << made.error().text();
      pages.fill(100);
      expect_restores(session, pages, version, 10 * version + static_cast<int>(rank));
    }
  });
}

TEST_F(OnWrite, CopiesAtTheCallToTiersThatAreNoMemory) {
  more_ = "capture.mode=cow;tier.order=file;tier.file.max_bytes=64MiB;";
  on_sessions([](Session& session, std::uint32_t) {
    const Pages pages(kMemory);
    pages.fill(6);
    ASSERT_TRUE(session.protect(pages.region(1)));
    ASSERT_TRUE(session.checkpoint("app", 1));
    EXPECT_EQ(session.level_reached("app", 1).value(), PERDURE_LEVEL_PROCESS);
    pages.fill(7);
    expect_restores(session, pages, 1, 6);
  });
}

TEST_F(OnWrite, CopiesAtTheCallWhereTheSystemProtectsNothingAndSaysSoOnce) {
  struct : os::Hooks {
    int before(const os::Operation& operation) override {
      return std::string_view(operation.call) == "userfaultfd" ? EPERM : 0;
    }
  } hooks;
  const test_support::InstalledHooks installed(hooks);
  ranks_ = 1;
  on_sessions([](Session& session, std::uint32_t) {
    const Pages pages(kMemory);
    ASSERT_TRUE(session.protect(pages.region(1)));
    for (int version = 1; version < 4; ++version) {
      pages.fill(version);
      ASSERT_TRUE(session.checkpoint("app", version));
      EXPECT_GE(session.level_reached("app", version).value(), PERDURE_LEVEL_PROCESS);
      expect_restores(session, pages, version, version);
    }
    EXPECT_NE(session.next_report().value().find("userfaultfd"), std::string::npos);
    EXPECT_FALSE(session.next_report());
  });
}

TEST_F(OnWrite, AThreadThatTheSystemRefusesCopiesAtTheCall) {
  for (const std::string name : {"capture", "copy on write"}) {
    SCOPED_TRACE(name);
    struct Refusing : os::Hooks {
      explicit Refusing(std::string refused) : name(std::move(refused)) {}
      int before(const os::Operation& operation) override {
        return std::string_view(operation.call) == "thread" && operation.path == name ? EAGAIN : 0;
      }
      std::string name;
    } hooks(name);
    const test_support::InstalledHooks installed(hooks);
    on_sessions([&](Session& session, std::uint32_t) {
      const Pages pages(kMemory);
      pages.fill(8);
      ASSERT_TRUE(session.protect(pages.region(1)));
      const std::int64_t version = name == "capture" ? 1 : 2;
      ASSERT_TRUE(session.checkpoint("app", version));
      pages.fill(9);
      ASSERT_TRUE(session.wait("app", version, PERDURE_LEVEL_PROCESS, 60));
      expect_restores(session, pages, version, 8);
    });
  }
}

TEST_F(OnWrite, AThreadWithoutMemoryIsAnErrorOfAllAndTheNextCallWorks) {
  struct : os::Hooks {
    int before(const os::Operation& operation) override {
      const bool mine = std::string_view(operation.call) == "thread_body" && operation.path == "capture";
      return mine && left-- > 0 ? ENOMEM : 0;
    }
    std::atomic<int> left = 1;
  } hooks;
  const test_support::InstalledHooks installed(hooks);
  on_sessions([](Session& session, std::uint32_t) {
    const Pages pages(kMemory);
    pages.fill(1);
    ASSERT_TRUE(session.protect(pages.region(1)));
    ASSERT_TRUE(session.checkpoint("app", 1));
    pages.fill(2);  // no rank waits for ever
    EXPECT_FALSE(session.wait("app", 1, PERDURE_LEVEL_PROCESS, 60));
    ASSERT_TRUE(session.checkpoint("app", 1));
    pages.fill(3);
    ASSERT_TRUE(session.wait("app", 1, PERDURE_LEVEL_PROCESS, 60));
    expect_restores(session, pages, 1, 2);
  });
}

TEST_F(OnWrite, ClosingFinishesWhatIsInFlight) {
  on_sessions([](Session& session, std::uint32_t) {
    const Pages pages(kMemory);
    pages.fill(7);
    ASSERT_TRUE(session.protect(pages.region(1)));
    ASSERT_TRUE(session.checkpoint("app", 1));
    pages.fill(8);
    EXPECT_TRUE(session.close());
  });
}

// They end as processes that die: they agree on nothing any more.
TEST_F(OnWrite, WhatAllRanksHaveCopiedOutlivesThemWithoutAnotherCall) {
  test_support::ThreadGroup group(ranks_);
  group.run([&](const perdure_communicator& c) {
    const Pages pages(kMemory);
    pages.fill(11 + c.rank);
    auto session = Session::open(comm::make_from_c(c).value(), options(more_).c_str());
    ASSERT_TRUE(session);
    ASSERT_TRUE((*session)->protect(pages.region(1)));
    ASSERT_TRUE((*session)->checkpoint("app", 1));
    pages.fill(50);
    EXPECT_EQ((*session)->level_reached("app", 1).value(), PERDURE_LEVEL_NONE);
    ASSERT_TRUE((*session)->unprotect(1));  // waits for this rank's copy only
  });
  on_sessions([](Session& session, std::uint32_t rank) {
    const Pages pages(kMemory);
    ASSERT_TRUE(session.protect(pages.region(1)));
    expect_restores(session, pages, PERDURE_LATEST, 11 + static_cast<int>(rank));
  });
}

// An engine commits by itself a version that all ranks of its node have copied, but not if the call of one has failed.
// Then all ranks got an error, and nothing of the version remains.
TEST_F(OnWrite, WhatAllRanksHaveCopiedIsNoVersionWhereTheCallOfOneHasFailed) {
  per_node_ = 2;
  // A call copies everything itself if its engine takes long to grant a slot. Then the engine does not commit: false.
  std::mutex mutex;
  std::string hindered;  // the reason that the last call gave
  const auto tried = [&](bool one_failed) {
    std::atomic<bool> within_a_call{false};
    on_ranks([&](Job& job) {
      const Pages pages(kMemory);
      pages.fill(7);
      capture::RegionTable regions;
      ASSERT_TRUE(regions.protect(pages.region(1)));
      RegionPlaces places(job.config());
      CaptureInFlight flight(job, attempt_at(job, 1), regions, places);
      const auto whole = flight.begin(os::WriteReach::program);
      ASSERT_TRUE(whole) << whole.error().text();
      if (*whole) {
        within_a_call = true;
        const std::lock_guard lock(mutex);
        hindered = flight.hindered();
      }
      ASSERT_TRUE(job.comm().barrier());
      if (!one_failed) flight.go_on();
      ASSERT_TRUE(flight.wait());
      ASSERT_TRUE(job.comm().barrier());
      const bool aborted = flight.abort();
      if (!within_a_call) EXPECT_EQ(aborted, one_failed) << "refused: the engine has committed";
      ASSERT_TRUE(job.comm().barrier());
    });
    return !within_a_call;
  };
  for (const bool one_failed : {true, false}) {
    bool done = false;
    for (int round = 0; round < 20 && !done && !HasFailure(); ++round) done = tried(one_failed);
    EXPECT_TRUE(done) << "in each round a call copied all itself: " << hindered;
  }
}

// A program that is killed at any moment has this version or the one before, as it was at its call.
TEST_F(OnWrite, AKilledProgramHasThisVersionOrTheOneBefore) {
  ranks_ = 1;
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const int first = 2 * round + 1, second = first + 1;
    const pid_t child = ::fork();
    if (child == 0) {
      auto session = Session::open(comm::make_solo(), options(more_).c_str());
      const Pages pages(kMemory);
      bool good = session && (*session)->protect(pages.region(1));
      pages.fill(first);
      good = good && (*session)->checkpoint("app", first);
      pages.fill(200);
      good = good && (*session)->wait("app", first, PERDURE_LEVEL_PROCESS, 60);
      pages.fill(second);
      good = good && (*session)->checkpoint("app", second) && ::write(ends[1], "x", 1) == 1;
      if (!good) ::_exit(1);
      for (;;) pages.fill(201);
    }
    char byte = 0;
    ::close(ends[1]);
    ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
    os::sleep_ns(static_cast<std::uint64_t>(round) * 300'000);  // wait: it is killed at another moment each time
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    on_sessions([&](Session& session, std::uint32_t) {
      const Pages pages(kMemory);
      ASSERT_TRUE(session.protect(pages.region(1)));
      ASSERT_TRUE(session.restore("app", PERDURE_LATEST, {}));
      EXPECT_TRUE(pages.holds(first) || pages.holds(second));
    });
  }
}

}  // namespace
}  // namespace perdure::client
