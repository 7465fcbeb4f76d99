// Tests that signals ask for a checkpoint, and that ending signals end the process once the checkpoint is in the store.
#include "automatic/signals.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "automatic/failure.hpp"
#include "perdure/perdure_track.h"
#include "support/eventually.hpp"
#include "support/ranks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::automatic {
namespace {

using test_support::Rank;

bool raises_in_replay = false;  // the rank raises the signal during its replay

class SignalledProgram : public testing::Test {
 protected:
  static constexpr int kSteps = 1200;
  std::string options() const {
    const std::string at = directory_.path();
    return "store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
           "/file;chunk_bytes=64KiB;tier.memory.max_bytes=32MiB;tier.file.max_bytes=32MiB;engine.idle_exit=1";
  }
  // Runs steps that take a while, and reports when it is in the middle. It makes checkpoints only on signals.
  int life(const Rank& rank, std::uint64_t* goes_on_at, std::uint64_t* checkpoints) const {
    perdure_t* handle = rank.open(options());
    perdure_track_policy policy{};
    policy.on_signals = 1;
    policy.learns = 64;
    perdure_track_t* track = nullptr;
    std::int64_t count = 0;
    int number = 0;
    const perdure_array array{"count", "i8", 0, nullptr, nullptr, 0, nullptr, nullptr};
    if (perdure_track_open(handle, &policy, &track, nullptr, 0) != PERDURE_OK) return 1;
    if (perdure_track_replicated(track, &array, &count, &number) != PERDURE_OK) return 1;
    if (perdure_track_start(track) != PERDURE_OK) return 1;
    for (int step = 0; step < kSteps; ++step) {
      if (raises_in_replay && step == 50) (void)std::raise(SIGUSR1);
      PERDURE_TRACK_REGION(track, "count", perdure_reads_writes(number)) {
        ++count;
        if (step == 200) std::ofstream(marker(rank.rank)) << "here";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // wait: it computes
      }
      if (perdure_track_tick(track) != PERDURE_OK) return 1;
    }
    perdure_track_info info{};
    if (perdure_track_get_info(track, &info) != PERDURE_OK) return 1;
    *goes_on_at = info.goes_on_at;
    *checkpoints = info.checkpoints;
    if (perdure_track_close(&track, nullptr, 0) != PERDURE_OK || count != kSteps) return 2;
    return perdure_close(&handle) == PERDURE_OK ? 0 : 3;
  }
  std::string marker(int rank) const { return directory_ / ("in-the-middle-" + std::to_string(rank)); }
  // Runs on `ranks` ranks; the last one gets the signal.
  test_support::Outcome signalled(int ranks, int signal) const {
    test_support::RunOptions some;
    some.ranks = ranks;
    some.kill_all_when_one_dies = false;
    some.meanwhile = [&](const std::vector<int>& pids) {
      EXPECT_TRUE(test_support::eventually("the last rank is in the middle",
                                           [&] { return std::filesystem::exists(marker(ranks - 1)); }));
      ::kill(pids.back(), signal);
    };
    return test_support::run_ranks(some, [&](const Rank& rank) {
      std::uint64_t at = 0, checkpoints = 0;
      const int code = life(rank, &at, &checkpoints);
      return code == 0 && (at != 0 || checkpoints != 1) ? 4 : code;
    });
  }
  test_support::TemporaryDirectory directory_;
};

TEST_F(SignalledProgram, EndsWhenItsCheckpointIsInTheStoreAndGoesOnWithoutItsNode) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const auto ended = signalled(2, signal);
    EXPECT_EQ(ended.exit_codes[1], 128 + signal) << ended.text();
    EXPECT_EQ(ended.exit_codes[0], 128 + SIGTERM) << "which got none: " << ended.text();
    std::filesystem::remove_all(directory_ / "node");
    std::filesystem::remove_all(directory_ / "file");
    test_support::RunOptions alone;
    alone.ranks = 1;
    const auto again = test_support::run_ranks(alone, [&](const Rank& rank) {
      std::uint64_t at = 0, checkpoints = 0;
      const int code = life(rank, &at, &checkpoints);
      return code == 0 && at < 200 ? 4 : code;
    });
    EXPECT_TRUE(again.all(0)) << again.text();
    for (const char* name : {"store", "node", "file", "in-the-middle-0", "in-the-middle-1"})
      std::filesystem::remove_all(directory_ / name);
  }
}

TEST_F(SignalledProgram, GoesOnBehindACheckpointThatWasAllThatWasAskedFor) {
  const auto outcome = signalled(2, SIGUSR1);
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

TEST(Signals, GiveTheirHandlersBack) {
  struct sigaction before = {}, after = {};
  ASSERT_EQ(::sigaction(SIGTERM, nullptr, &before), 0);
  {
    Signals signals;
    EXPECT_FALSE(signals.checkpoint_asked());
    ASSERT_EQ(std::raise(SIGUSR1), 0);
    EXPECT_TRUE(signals.checkpoint_asked());
    EXPECT_FALSE(signals.checkpoint_asked());
    EXPECT_FALSE(signals.end_asked());
    ASSERT_EQ(std::raise(SIGTERM), 0);
    EXPECT_TRUE(signals.checkpoint_asked());
    EXPECT_TRUE(signals.end_asked());
  }
  ASSERT_EQ(::sigaction(SIGTERM, nullptr, &after), 0);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(Signals, EndTheProcessAtOnceWhereTheyComeAgain) {
  test_support::RunOptions alone;
  alone.ranks = 1;
  const auto twice = test_support::run_ranks(alone, [](const Rank&) {
    Signals signals(std::chrono::nanoseconds(-1));  // so that no two count as one
    (void)std::raise(SIGINT);
    (void)std::raise(SIGTERM);
    return 0;
  });
  EXPECT_TRUE(twice.all(128 + SIGTERM)) << twice.text();
  const auto once = test_support::run_ranks(alone, [](const Rank&) {
    Signals signals;
    (void)std::raise(SIGINT);
    signals.end();
    return 0;
  });
  EXPECT_TRUE(once.all(128 + SIGINT)) << once.text();
}

// If they counted as two, the test process would end. It needs a second at most for the check.
TEST(Signals, ThatComeTogetherAreOne) {
  Signals signals;
  (void)std::raise(SIGINT);
  (void)std::raise(SIGTERM);
  EXPECT_TRUE(signals.end_asked());
}

TEST(Signals, AreTakenOnceInAProcessAndStayIgnoredWhereTheyWere) {
  ASSERT_NE(std::signal(SIGINT, SIG_IGN), SIG_ERR);
  {
    Signals signals;
    EXPECT_THROW(Signals(), Failure);
    (void)std::raise(SIGINT);
    EXPECT_FALSE(signals.end_asked());
  }
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_IGN);
  EXPECT_NO_THROW(Signals());
}

// A restart asks for the checkpoint when it has reached its place.
TEST_F(SignalledProgram, IsAskedDuringItsRestartAndSavedBehindIt) {
  const auto first = signalled(1, SIGTERM);
  EXPECT_TRUE(first.all(128 + SIGTERM)) << first.text();
  std::filesystem::remove(marker(0));
  test_support::RunOptions alone;
  alone.ranks = 1;
  alone.in_child = [](int) { raises_in_replay = true; };
  const auto again = test_support::run_ranks(alone, [&](const Rank& rank) {
    std::uint64_t at = 0, checkpoints = 0;
    const int code = life(rank, &at, &checkpoints);
    if (code != 0) return code;
    return at > 100 && checkpoints == 1 ? 0 : 4;
  });
  EXPECT_TRUE(again.all(0)) << again.text();
}

}  // namespace
}  // namespace perdure::automatic
