// Tests programs whose environment refuses a directory, a file size or a thread. Each gets an error that names the
// cause and the remedy, and goes on.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "damage.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

class Limits : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options(const std::string& more = {}) const { return options_in(directory_.path(), GetParam(), more); }
  bool daemon() const { return GetParam() == std::string("daemon"); }
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Limits, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

bool contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  std::fprintf(stderr, "'%s' does not say '%s'\n", text.c_str(), part.c_str());
  return false;
}

TEST_P(Limits, AMissingTmpdirIsNamed) {
  RunOptions run;
  run.ranks = 2;
  run.in_child = [](int) { ::setenv("TMPDIR", "/nonexistent/tmp", 1); };
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    const std::string settings =
        "store.path=" + directory_.path() + "/store;node.path=" + directory_.path() + "/node;engine.mode=" + GetParam();
    char message[1000] = "";
    perdure_t* handle = nullptr;
    const auto status =
        perdure_open_communicator(&rank.communicator, settings.c_str(), &handle, message, sizeof message);
    REQUIRE(status == (rank.rank == 0 ? PERDURE_NOT_FOUND : PERDURE_PEER_FAILED) || status == PERDURE_NOT_FOUND);
    REQUIRE(handle == nullptr);
    if (rank.rank == 0) {
      REQUIRE(contains(message, "TMPDIR leads to: /nonexistent/tmp: no such directory"));
      REQUIRE(contains(message, "correct TMPDIR, or set tier.file.path"));
    }
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

TEST_P(Limits, AFileThatMayNotGrowIsAnErrorAndNotASignal) {
  RunOptions run;
  run.ranks = 1;
  run.in_child = [](int) {
    const rlimit low{1 << 20, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_FSIZE, &low) != 0) std::abort();
  };
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options("flush.during_capture=never;chunk_bytes=4MiB"));
    std::vector<char> large(20 << 20, 1), small(100 << 10, 2);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, large.data(), 1, large.size()));
    REQUIRE_STATUS(PERDURE_NO_SPACE, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE(contains(perdure_error_text(handle), "RLIMIT_FSIZE"));
    REQUIRE(contains(perdure_error_text(handle), "ulimit -f unlimited"));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, small.data(), 1, small.size()));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 2));
    small.assign(small.size(), 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(small == std::vector<char>(100 << 10, 2));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    struct sigaction way {};
    REQUIRE(::sigaction(SIGXFSZ, nullptr, &way) == 0 && way.sa_handler == SIG_DFL);
    sigset_t blocked;
    REQUIRE(::sigprocmask(SIG_BLOCK, nullptr, &blocked) == 0 && sigismember(&blocked, SIGXFSZ) == 0);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

// Each of the threads that an open starts is the first to be refused once.
TEST_P(Limits, AThreadThatTheSystemRefusesIsAnErrorOfOpen) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's own threads would be refused";
  constexpr uid_t kNobodyElse = 54321;  // the kernel exempts root from the limit
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(directory_.path().c_str(), kNobodyElse, kNobodyElse), 0);
  }
  const std::string all = options("engine.daemon_path=" + within_reach(PERDURED_PATH, directory_.path()));
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the parent of each perdured that was left
  bool opened = false;
  for (rlim_t most = 1; most < 40 && !opened; ++most) {
    SharedMemory<int> good;
    RunOptions run;
    run.ranks = 1;
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      if (::geteuid() == 0) REQUIRE(become_user(kNobodyElse));
      const rlimit low{most, most};
      REQUIRE(::setrlimit(RLIMIT_NPROC, &low) == 0);
      char message[2000] = "";
      perdure_t* handle = nullptr;
      const auto status = perdure_open_communicator(&rank.communicator, all.c_str(), &handle, message, sizeof message);
      if (status == PERDURE_OK) {
        *good = 1;
        perdure_close(&handle);
        return 0;
      }
      REQUIRE(contains(message, "raise ulimit -u"));
      REQUIRE(contains(message, "no-space"));
      REQUIRE(daemon() || status == PERDURE_NO_SPACE);
      return 0;
    });
    EXPECT_TRUE(outcome.all(0)) << "at most " << most << " threads: " << outcome.text();
    // A perdured of this attempt, even a zombie, would count in the next one.
    stop_daemons(directory_.path());
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    opened = *good == 1;
    if (::geteuid() != 0 && most > 3) break;  // this user has other threads, too
  }
  EXPECT_TRUE(opened || ::geteuid() != 0);
}

}  // namespace
