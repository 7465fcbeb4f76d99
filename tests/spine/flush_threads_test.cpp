// Tests that the options determine an engine's number of threads, whatever waits for the store.
#include <gtest/gtest.h>
#include <unistd.h>

#include "damage.hpp"
#include "support/temporary_directory.hpp"
#include "thread_cpus.hpp"

namespace {

using namespace perdure::test_support;

class FlushThreads : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, FlushThreads, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

// The store takes half a minute for one version, so all but the first wait.
TEST_P(FlushThreads, AreNoMoreWhenManyVersionsWaitForASlowStore) {
  TemporaryDirectory directory;
  RunOptions run;
  run.ranks = 1;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    const auto begun = threads_of(::getpid()).size();
    perdure_t* handle =
        rank.open(options_in(directory.path(), GetParam(),
                             "flush.during_capture=always;flush.max_bandwidth=4KiB;flush.threads=3;chunk_bytes=64KiB;"
                             "tier.memory.max_bytes=256MiB;engine.drain_timeout=1"));
    std::vector<char> data(128 << 10, 1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, data.data(), 1, data.size()));
    const auto engines = engine_pids(directory.path());
    const auto pid = GetParam() == std::string("daemon") ? engines.at(0) : ::getpid();
    const auto idle = pid == ::getpid() ? threads_of(pid).size() - begun + 1 : threads_of(pid).size();
    std::size_t most = 0;
    for (std::int64_t version = 1; version <= 30; ++version) {
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
      most = std::max(most, threads_of(pid).size());
    }
    std::fprintf(stderr, "%zu threads of an idle engine, %zu at most\n", idle, most);
    // docs/threads.md: two that lead captures, and twice flush.threads. The client has one that renews its claim of the
    // name from the first checkpoint on.
    const std::size_t claims = pid == ::getpid() ? 1 : 0;
    REQUIRE(most <= idle + claims + 2 + 2 * 3);
    ::_exit(0);  // the store would take long
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  kill_engines(directory.path());
}

}  // namespace
