// Tests mistakes that other checkpoint libraries make.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "base/json.hpp"
#include "damage.hpp"
#include "ipc/channel.hpp"
#include "os/system.hpp"
#include "segment/reader.hpp"
#include "store/store.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

constexpr std::size_t kWords = 24000;  // two chunks

RunOptions ranks(int count) {
  RunOptions run;
  run.ranks = count;
  return run;
}

void set_rules(const std::string& file, const std::string& rules) {
  write_bytes(file + ".new", {rules.begin(), rules.end()});
  fs::rename(file + ".new", file);
}

// Returns all complete versions of `name` in the store.
std::vector<std::uint64_t> complete_versions(const std::string& path, const std::string& name) {
  std::vector<std::uint64_t> found;
  auto made = store::make_store(path);
  auto listings =
      made ? (*made)->list(name) : base::Result<std::vector<store::VersionListing>>(base::fail(made.error()));
  if (!listings) return found;
  for (const auto& listing : *listings)
    if (listing.all_present() && store::read_version(**made, listing)) found.push_back(listing.id.version);
  return found;
}

class FieldMistakes : public ::testing::TestWithParam<const char*> {
 protected:
  bool daemon() const { return std::string(GetParam()) == "daemon"; }
  std::string options(const std::string& more = {}) const { return options_in(directory_.path(), GetParam(), more); }
  std::string store() const { return directory_.path() + "/store"; }
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Modes, FieldMistakes, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

class DaemonMistakes : public FieldMistakes {};
INSTANTIATE_TEST_SUITE_P(Modes, DaemonMistakes, ::testing::Values("daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(DaemonMistakes, AnEngineThatDiesWhileIdleNeitherKillsNorHangsTheApplication) {
  const auto outcome = run_ranks(ranks(2), [&](const Rank& rank) {
    perdure_t* handle = rank.open(options("node.ranks_per_node=1"));
    State state(rank.rank, kWords);
    state.protect(handle);
    for (std::uint64_t version = 1; version <= 3; ++version) {
      state.advance(version);
      // The dead engine's socket may outlive it for a moment; the call then fails with a retryable error.
      perdure_status taken = perdure_checkpoint(handle, "app", static_cast<std::int64_t>(version));
      for (int tries = 0; taken != PERDURE_OK && perdure_error_retryable(handle) == 1 && tries < 20; ++tries)
        taken = perdure_checkpoint(handle, "app", static_cast<std::int64_t>(version));
      REQUIRE_STATUS(PERDURE_OK, handle, taken);
      REQUIRE_STATUS(PERDURE_OK, handle,
                     perdure_wait(handle, "app", static_cast<std::int64_t>(version), PERDURE_LEVEL_STORE, 30));
      rank.barrier();
      if (rank.rank == 0) kill_engines(directory_.path());
      if (rank.rank == 0)
        REQUIRE(eventually("all engines have ended", [&] { return engine_pids(directory_.path()).empty(); }));
      rank.barrier();
      perdure_progress progress;
      char text[200];
      perdure_status status =
          version == 1 ? perdure_get_progress(handle, &progress) : perdure_next_report(handle, text, sizeof text);
      REQUIRE(status == PERDURE_UNAVAILABLE && perdure_error_retryable(handle) == 1);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 2, state.words.data(), 8, state.words.size()));
    }
    state.advance(0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 3 && state.right());
    rank.barrier();
    if (rank.rank == 0) kill_engines(directory_.path());
    rank.barrier();
    (void)perdure_close(&handle);
    REQUIRE(handle == nullptr);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(FieldMistakes, AnEngineThatDiesInAFlushNeverOffersAPartialFile) {
  for (const char* point :
       {"flush_created", "flush_chunk", "flush_before_sync", "flush_before_rename", "flush_after_rename"}) {
    (void)run_ranks(ranks(2), [&](const Rank& rank) {
      ::setenv("PERDURE_TEST_CRASH", (std::string(point) + ":1").c_str(), 1);
      perdure_t* handle = rank.open(options());
      State state(rank.rank, kWords);
      state.protect(handle);
      state.advance(1);
      (void)perdure_checkpoint(handle, "app", 1);
      (void)perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 30);
      ::raise(SIGKILL);
      return 0;
    });
    kill_engines(directory_.path());
    const bool published = std::string(point) == "flush_after_rename";
    EXPECT_EQ(complete_versions(store(), "app").size(), published ? 1U : 0U) << point;
    if (!fs::exists(store())) continue;
    for (const auto& entry : fs::recursive_directory_iterator(store()))
      EXPECT_TRUE(published || entry.path().extension() != ".pds" ||
                  entry.path().filename().string().starts_with(".tmp-"))
          << entry.path();
    for (const char* part : {"/node", "/file", "/store"}) fs::remove_all(directory_.path() + part);
  }
}

TEST_P(FieldMistakes, WhenOneRankMissesTheNewestVersionAllTakeTheNewestThatAllHave) {
  const std::string two_nodes = options("node.ranks_per_node=1");
  const auto life = [&](const Rank& rank) {
    const std::string rules = directory_.path() + "/rules";
    ::setenv("PERDURE_TEST_FAULTS", ("@" + rules).c_str(), 1);
    perdure_t* handle = rank.open(two_nodes);
    State state(rank.rank, kWords);
    state.protect(handle);
    for (std::uint64_t version = 1; version <= 4; ++version) {
      state.advance(version);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", static_cast<std::int64_t>(version)));
      if (version != 2) continue;
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 2, PERDURE_LEVEL_STORE, 30));
      if (rank.rank == 0) set_rules(rules, "pwrite:" + store() + ":ENOSPC");
      rank.barrier();
    }
    rank.barrier();
    ::raise(SIGKILL);
    return 0;
  };
  const auto died = run_ranks(ranks(2), life);
  ASSERT_TRUE(died.all(128 + SIGKILL)) << died.text();
  kill_engines(directory_.path());
  const auto lost = find_state(directory_.path(), 1, 4);
  ASSERT_EQ(lost.size(), 1U);
  fs::remove_all(lost[0].file.parent_path());
  const auto outcome = run_ranks(ranks(2), [&](const Rank& rank) {
    perdure_t* handle = rank.open(two_nodes);
    State state(rank.rank, kWords);
    state.protect(handle);
    std::int64_t latest = -1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_latest(handle, "app", &latest));
    REQUIRE(latest == 2);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 2 && state.right());
    REQUIRE(perdure_restore(handle, "app", 4) != PERDURE_OK);
    perdure_close(&handle);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  kill_engines(directory_.path());
}

// Two jobs of one user run on one node and store at the same time: rank 0 is one, rank 1 the other.
TEST_P(FieldMistakes, ASecondJobWithAnotherConfigurationGetsItsOwnEngineAndSettings) {
  for (const std::string& other :
       {std::string("retention.keep_last=3"), std::string("job=second;retention.keep_last=3")}) {
    const auto outcome = run_ranks(ranks(2), [&](const Rank& rank) {
      perdure_t* handle = nullptr;
      char message[500] = "";
      const std::string mine = options(rank.rank == 0 ? "retention.keep_last=1" : other);
      const std::string name = (rank.rank == 0 ? "first" : "second") + std::to_string(other.size());
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_open(mine.c_str(), &handle, message, sizeof message));
      State state(rank.rank, 500);
      state.protect(handle);
      rank.barrier();
      REQUIRE(std::distance(fs::directory_iterator(directory_.path() + "/node"), fs::directory_iterator{}) == 2);
      for (std::uint64_t version = 1; version <= 5; ++version) {
        state.advance(version);
        REQUIRE_STATUS(PERDURE_OK, handle,
                       perdure_checkpoint(handle, name.c_str(), static_cast<std::int64_t>(version)));
        REQUIRE_STATUS(PERDURE_OK, handle,
                       perdure_wait(handle, name.c_str(), static_cast<std::int64_t>(version), PERDURE_LEVEL_STORE, 30));
      }
      rank.barrier();
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
      return 0;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory_.path());
    EXPECT_EQ(complete_versions(store(), "first" + std::to_string(other.size())), std::vector<std::uint64_t>{5});
    EXPECT_EQ(complete_versions(store(), "second" + std::to_string(other.size())),
              (std::vector<std::uint64_t>{3, 4, 5}));
  }
}

// One node is fast, one slow, and retention keeps one version. Everything is killed at random moments while the test
// watches the store.
TEST_P(FieldMistakes, FastAndSlowRanksWithARetentionOfOneNeverLeaveZeroCompleteVersions) {
  std::mt19937 random(20260731);
  bool seen_complete = false;
  for (int round = 0; round < 20; ++round) {
    RunOptions run = ranks(2);
    run.meanwhile = [&](const std::vector<int>& pids) {
      const std::uint64_t end = os::monotonic_ns() + (60 + random() % 250) * 1'000'000;
      // The first round lasts until there is a version to lose.
      for (int i = 0; os::monotonic_ns() < end || (!seen_complete && i < 4000); ++i) {
        // Between listing and reading, a version may be retired for a newer one. Only a store that repeatedly shows
        // none is empty.
        bool complete = false;
        for (int look = 0; look < 20 && !complete; ++look) complete = !complete_versions(store(), "app").empty();
        EXPECT_TRUE(complete || !seen_complete) << "round " << round;
        seen_complete = seen_complete || complete;
        os::sleep_ns(1'000'000);  // wait: it looks again until a drawn moment
      }
      for (int pid : pids) ::kill(pid, SIGKILL);
      kill_engines(directory_.path());
    };
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      ::setenv("PERDURE_TEST_FAULTS", "slow:0001-of-0002:15", 1);
      perdure_t* handle = rank.open(options("node.ranks_per_node=1;retention.keep_last=1"));
      State state(rank.rank, kWords);
      state.protect(handle);
      const perdure_status status = perdure_restore(handle, "app", PERDURE_LATEST);
      // kill -9 of all processes may lose no captured version, so after the first round there is always one.
      REQUIRE(status == PERDURE_OK || status == PERDURE_NOT_FOUND || status == PERDURE_UNAVAILABLE ||
              status == PERDURE_PEER_FAILED);
      if (status == PERDURE_OK) REQUIRE(state.right());
      if (status == PERDURE_NOT_FOUND) REQUIRE(!seen_complete);
      for (std::uint64_t version = state.step + 1;; ++version) {
        state.advance(version);
        if (perdure_checkpoint(handle, "app", static_cast<std::int64_t>(version)) != PERDURE_OK)
          os::sleep_ns(1'000'000);  // wait: before it tries again, until it is killed
      }
    });
    for (int code : outcome.exit_codes) EXPECT_EQ(code, 128 + SIGKILL) << outcome.text();
  }
  stop_daemons(directory_.path());  // one may have been starting when the others were killed
  EXPECT_TRUE(seen_complete);
  EXPECT_LE(1U, complete_versions(store(), "app").size());
}

// One engine has two clients: one is killed while it waits, the other goes on with the same engine.
void kill_the_one_that_waits(const std::string& directory, const std::string& options,
                             const std::function<int(perdure_t*, const std::string&)>& wait) {
  const std::string rules = directory + "/rules";
  set_rules(rules, "pwrite:" + directory + "/store:ENOSPC");
  SharedMemory<std::atomic<int>> waiting;
  RunOptions run = ranks(2);
  run.kill_all_when_one_dies = false;
  run.meanwhile = [&](const std::vector<int>& pids) {
    EXPECT_TRUE(eventually("the impatient one is about to wait", [&] { return *waiting == 1; }));
    EXPECT_TRUE(eventually("it sleeps, as who waits does", [&] { return state_of(pids[1]) == 'S'; }));
    const auto engines = engine_pids(directory);
    EXPECT_EQ(engines.size(), 1U);
    ::kill(pids[1], SIGKILL);
    fs::remove(rules);
    *waiting = 2;
    EXPECT_TRUE(eventually("the patient one has stored its checkpoint", [&] { return *waiting == 3; }));
    EXPECT_EQ(engine_pids(directory), engines) << "another engine than before";
    *waiting = 4;
  };
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    ::setenv("PERDURE_TEST_FAULTS", ("@" + rules).c_str(), 1);
    if (rank.rank == 1) rank.barrier();
    perdure_t* handle = nullptr;
    char message[500] = "";
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_open(options.c_str(), &handle, message, sizeof message));
    if (rank.rank == 0) rank.barrier();
    State state(rank.rank, kWords);
    state.protect(handle);
    if (rank.rank == 1) {
      *waiting = 1;
      return wait(handle, "impatient");
    }
    REQUIRE(eventually("the impatient one was killed", [&] { return *waiting == 2; }));
    state.advance(9);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "patient", 9));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "patient", 9, PERDURE_LEVEL_STORE, 30));
    *waiting = 3;
    REQUIRE(eventually("the engine was looked at", [&] { return *waiting == 4; }));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_EQ(outcome.exit_codes, (std::vector<int>{0, 128 + SIGKILL})) << outcome.text();
  stop_daemons(directory);
}

TEST_P(DaemonMistakes, AClientKilledWhileItWaitsForTheStoreDoesNotTakeTheEngineDown) {
  kill_the_one_that_waits(directory_.path(), options(), [](perdure_t* handle, const std::string& name) {
    (void)perdure_checkpoint(handle, name.c_str(), 1);
    (void)perdure_wait(handle, name.c_str(), 1, PERDURE_LEVEL_STORE, PERDURE_FOREVER);
    return 1;
  });
}

TEST_P(DaemonMistakes, AClientKilledWhileItWaitsForASlotDoesNotTakeTheEngineDown) {
  const std::string cramped = options("tier.order=file;tier.file.max_bytes=512KiB");
  kill_the_one_that_waits(directory_.path(), cramped, [](perdure_t* handle, const std::string& name) {
    for (int version = 1; version < 100000; ++version) (void)perdure_checkpoint(handle, name.c_str(), version);
    return 1;
  });
}

TEST_P(DaemonMistakes, ElevenHundredClientsOneAfterTheOtherDoNotExhaustTheEngine) {
  const auto outcome = run_ranks(ranks(1), [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    State state(0, 1000);
    state.protect(handle);
    const auto engines = engine_pids(directory_.path());
    REQUIRE(engines.size() == 1);
    const fs::path descriptors = "/proc/" + std::to_string(engines[0]) + "/fd";
    const auto count = [&] { return std::distance(fs::directory_iterator(descriptors), fs::directory_iterator{}); };
    const auto before = count();
    std::string socket;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path() + "/node"))
      if (entry.path().filename() == "socket") socket = entry.path();
    for (int i = 0; i < 1100; ++i) {
      auto channel = ipc::Channel::connect(socket);
      REQUIRE(channel);
      if (i % 10 == 0) continue;  // some never send anything
      ipc::Hello hello;
      hello.client = false;
      REQUIRE(channel->call(hello));
      if (i % 10 == 1) REQUIRE(channel->post(ipc::Drain{}));  // and some leave without waiting for the answer
    }
    for (int i = 0; i < 20; ++i) {
      perdure_t* other = nullptr;
      REQUIRE(perdure_open(options().c_str(), &other, nullptr, 0) == PERDURE_OK);
      REQUIRE(perdure_close(&other) == PERDURE_OK);
    }
    REQUIRE(eventually("the engine has no more descriptors than before", [&] { return count() <= before; }));
    REQUIRE(engine_pids(directory_.path()) == engines);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(DaemonMistakes, AnApplicationWhoseOutputIsPipedEndsWhenItEndsThoughTheEngineLivesOn) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    perdure_t* handle = nullptr;
    int number = 1;
    int wrong = perdure_open((options() + ";engine.idle_exit=30").c_str(), &handle, nullptr, 0);
    wrong += perdure_protect(handle, 1, &number, 4, 1);
    wrong += perdure_checkpoint(handle, "app", 1);
    wrong += perdure_close(&handle);
    [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, "done", 4);
    ::_exit(wrong);
  }
  ::close(ends[1]);
  std::string output;
  bool ended = false;
  pollfd readable{ends[0], POLLIN, 0};
  while (!ended && ::poll(&readable, 1, 20000) == 1) {
    char bytes[100];
    const ssize_t got = ::read(ends[0], bytes, sizeof bytes);
    ended = got <= 0;
    if (got > 0) output.append(bytes, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(ended) << "somebody holds the pipe";
  EXPECT_EQ(output, "done");
  EXPECT_EQ(engine_pids(directory_.path()).size(), 1U) << "the engine was to live on";
  stop_daemons(directory_.path());
}

}  // namespace
