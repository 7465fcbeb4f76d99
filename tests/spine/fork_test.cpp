// Tests an application that forks.
#include <gtest/gtest.h>

#include "damage.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

/// Ends the child that a rank left behind, however the test ends.
struct LeftBehind {
  SharedMemory<std::atomic<int>> pid;
  bool lives() const { return *pid > 0 && !is_over(*pid); }
  ~LeftBehind() {
    if (*pid > 0) ::kill(*pid, SIGKILL);
  }
};

// The child has duplicates of the embedded engine's open descriptors: its lock, listening socket and connections.
TEST(Fork, AChildThatOutlivesAKilledApplicationDoesNotHoldUpTheNextStart) {
  const TemporaryDirectory directory;
  const LeftBehind child;
  RunOptions run;
  run.ranks = 2;
  const std::string options = options_in(directory.path(), "embedded");
  auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options);
    State state(rank.rank, 1000);
    state.protect(handle);
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    if (rank.rank == 0) {
      const int pid = ::fork();
      while (pid == 0) ::pause();
      *child.pid = pid;
    }
    rank.barrier();
    ::raise(SIGKILL);
    return 0;
  });
  ASSERT_TRUE(outcome.all(128 + SIGKILL)) << outcome.text();
  outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options);
    State state(rank.rank, 1000);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 1 && state.right());
    REQUIRE(perdure_close(&handle) == PERDURE_OK);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  EXPECT_TRUE(child.lives()) << "nothing was tried";
}

}  // namespace
