// Tests hosts with their own addresses and one engine each. Their redundancy goes over a real network, which is cut and
// comes back; and a host is lost with all its data.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "hosts.hpp"
#include "node_directories.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr int kHosts = 4, kSpare = 4;               // the fifth host is the spare
constexpr std::size_t kHostWords = (2U << 20) / 8;  // 2 MiB per rank
constexpr std::uint64_t kOverCables = 1'000'000;    // with xor every host fetches about as much as it has

/// The hosts are separate machines to each other, or simulated nodes that see each other's memory. All communicate over
/// cables.
class FourHosts : public ::testing::TestWithParam<bool> {
 protected:
  bool machines() const { return GetParam(); }
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "what runs here runs in NodeLoss, too; it waits for peers to be given up";
    std::string why_not;
    hosts_ = Hosts::make(kHosts + 1, machines(), why_not);
    if (!hosts_) GTEST_SKIP() << why_not;
  }
  std::string options(const std::string& numbers = "0,1,2,3") const {
    return options_in(
        directory_.path(), "embedded",
        std::string("redundancy.scheme=xor") + (machines() ? "" : ";node.ranks_per_node=1;node.numbers=" + numbers));
  }
  /// Runs rank r on host `on[r]`, with a store that accepts nothing.
  RunOptions run_on(const std::vector<int>& on) const {
    RunOptions run;
    run.ranks = kHosts;
    run.timeout_s = 120;
    run.kill_all_when_one_dies = false;
    run.in_child = [this, on](int rank) {
      hosts_->enter(on[static_cast<std::size_t>(rank)]);
      ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "16", 1);
      ::setenv("PERDURE_TEST_FAULTS", ("pwrite:" + directory_.path() + "/store:ENOSPC").c_str(), 1);
    };
    return run;
  }
  std::size_t lose(int host) const {
    if (!machines()) return lose_node(directory_.path(), options(), host);
    return lose_node(directory_.path(), options(), Hosts::host_name(host));
  }

  std::unique_ptr<Hosts> hosts_;
  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
};
INSTANTIATE_TEST_SUITE_P(They, FourHosts, ::testing::Bool(),
                         [](const auto& machines) { return machines.param ? "are_machines" : "share_memory"; });

int reach_level_node(perdure_t* handle, State& state, std::int64_t version) {
  state.advance(static_cast<std::uint64_t>(version));
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 60));
  perdure_level level{};
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", version, &level));
  REQUIRE(level >= PERDURE_LEVEL_NODE);  // or the store has it by now
  return 0;
}

TEST_P(FourHosts, ALostHostComesBackOnAnotherOneWithoutTheStore) {
  const auto before = run_ranks(run_on({0, 1, 2, 3}), [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    State state(rank.rank, kHostWords);
    state.protect(handle);
    if (const int wrong = reach_level_node(handle, state, 1)) return wrong;
    const std::uint64_t received = Hosts::bytes_received();
    std::fprintf(stderr, "host %d received %lu bytes\n", rank.rank, static_cast<unsigned long>(received));
    REQUIRE(machines() ? received > kOverCables : received < kOverCables / 4);
    rank.barrier();
    ::raise(SIGKILL);
    return 0;
  });
  ASSERT_TRUE(before.all(128 + SIGKILL)) << before.text();
  ASSERT_GT(lose(1), 0U);
  const auto after = run_ranks(run_on({0, kSpare, 2, 3}), [&](const Rank& rank) {
    perdure_t* handle = rank.open(options("0,4,2,3"));
    State state(rank.rank, kHostWords);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 1 && state.right());
    perdure_progress progress{};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_get_progress(handle, &progress));
    REQUIRE(progress.restore_source == (rank.rank == 1 ? 5 : 1));
    const int wrong = reach_level_node(handle, state, 2);
    rank.barrier();
    ::_exit(wrong);
    return wrong;
  });
  EXPECT_TRUE(after.all(0)) << after.text();
}

struct Cut {
  std::atomic<int> captured = 0, noticed = 0;
  std::atomic<bool> down = false, up = false, failed = false;
};

/// Reads reports until one names `whom`.
bool is_named(perdure_t* handle, const std::string& whom) {
  return eventually("a report names engine " + whom,
                    [&] { return all_reports(handle).find("engine " + whom + ":") != std::string::npos; });
}

/// Waits again as long as the error is retryable: engines notice a returned peer a little later.
perdure_status waited_again(perdure_t* handle, std::int64_t version) {
  auto status = perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 60);
  const bool over = eventually("the version is at level node, or never will be", [&] {
    if (status == PERDURE_OK || perdure_error_retryable(handle) != 1) return true;
    status = perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 60);
    return false;
  });
  return over ? status : PERDURE_TIMEOUT;
}

// Runs the ranks while another process pulls the cable of one.
int live_through(Cut& cut, const Rank& rank, const std::string& options, int cut_off) {
  perdure_t* handle = rank.open(options);
  State state(rank.rank, kHostWords);
  state.protect(handle);
  if (const int wrong = reach_level_node(handle, state, 1)) return wrong;
  for (std::int64_t version = 2; version <= 3; ++version) {
    state.advance(static_cast<std::uint64_t>(version));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
    if (version == 2) ++cut.captured;  // it may be at level node by now, or on the way
    REQUIRE(eventually("the link is down", [&] { return cut.down.load(); }));
  }
  // Version 3 was taken without one of them; all that this cost is the level.
  REQUIRE(perdure_wait(handle, "app", 3, PERDURE_LEVEL_NODE, 0.5) == PERDURE_TIMEOUT);
  REQUIRE(is_named(handle, Hosts::address(rank.rank == cut_off ? 0 : cut_off)));
  ++cut.noticed;
  REQUIRE(eventually("the link is up again", [&] { return cut.up.load(); }));
  REQUIRE_STATUS(PERDURE_OK, handle, waited_again(handle, 3));
  if (const int wrong = reach_level_node(handle, state, 4)) return wrong;
  rank.barrier();
  ::raise(SIGKILL);
  return 0;
}

TEST_P(FourHosts, OneThatIsCutOffIsNamedAndTheLevelIsReachedWhenItIsBack) {
  constexpr int kCutOff = 2;
  SharedMemory<Cut> cut;
  RunOptions run = run_on({0, 1, 2, 3});
  const auto when = [&](const std::atomic<int>& count) {
    EXPECT_TRUE(eventually("all ranks have come so far", [&] { return count >= kHosts; }));
  };
  run.meanwhile = [&](const std::vector<int>&) {
    when(cut->captured);
    EXPECT_TRUE(hosts_->set_link(kCutOff, false));
    cut->down = true;
    when(cut->noticed);
    EXPECT_TRUE(hosts_->set_link(kCutOff, true));
    cut->up = true;
  };
  const auto outcome = run_ranks(run, [&](const Rank& rank) { return live_through(*cut, rank, options(), kCutOff); });
  EXPECT_TRUE(outcome.all(128 + SIGKILL)) << outcome.text();
}

}  // namespace
