// Tests every scheme, in groups of 2 to 4 nodes, with every set of lost nodes that leaves one. Losses that the scheme
// survives come back without the store. Beyond that the newest version in the store comes back, with the reason. One
// run makes the checkpoints; every loss begins with its nodes as they were at the end.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "faults.hpp"
#include "node_directories.hpp"
#include "redundancy/registry.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

struct GroupShape {
  const char* scheme;
  unsigned n;
};
void PrintTo(const GroupShape& shape, std::ostream* out) { *out << shape.scheme << " of " << shape.n; }

constexpr unsigned kParities = 2;
constexpr std::size_t kShapeWords = 20000;  // two chunks, of two sizes

class ExhaustiveLosses : public ::testing::TestWithParam<GroupShape> {
 protected:
  bool survives(const perdure::redundancy::Positions& lost) const {
    const auto* scheme = *perdure::redundancy::find_scheme(GetParam().scheme);
    return scheme->survives(GetParam().n, perdure::redundancy::parities(*scheme, kParities), lost);
  }
  // All data of a node is in files, which can be copied.
  std::string options() const {
    return options_in(directory_.path(), "embedded",
                      "node.ranks_per_node=1;tier.order=file;redundancy.scheme=" + std::string(GetParam().scheme) +
                          ";redundancy.parities=" + std::to_string(kParities));
  }
  Outcome run(const std::function<int(const Rank&)>& body) const {
    RunOptions run;
    run.ranks = static_cast<int>(GetParam().n);
    run.kill_all_when_one_dies = false;
    run.timeout_s = 100;
    run.in_child = [this](int) {
      faults_.install();
      ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "16", 1);  // fewer buffers of the provider, which take most of the time
    };
    return run_ranks(run, body);
  }

  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
  Faults faults_{directory_.path()};
};

std::vector<GroupShape> small_groups() {
  std::vector<GroupShape> all;
  using namespace perdure::redundancy;
  for (const Scheme& scheme : schemes())
    for (unsigned n : {2U, 3U, 4U}) {
      if (!keeps_redundancy(scheme) || scheme.at_server) continue;
      if (group_limits(scheme, parities(scheme, kParities))->min_size <= n) all.push_back({scheme.name, n});
    }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Schemes, ExhaustiveLosses, ::testing::ValuesIn(small_groups()), [](const auto& shape) {
  std::string name = shape.param.scheme;
  std::erase(name, '-');
  return name + std::to_string(shape.param.n);
});

// Makes version 1 in the store and version 2 only on the nodes; then everything dies.
int two_versions(const Rank& rank, const std::string& options, const Faults& faults) {
  perdure_t* handle = rank.open(options);
  State state(rank.rank, kShapeWords);
  state.protect(handle);
  for (const int version : {1, 2}) {
    state.advance(static_cast<std::uint64_t>(version));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 60));
    if (version == 2) break;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_STORE, 60));
    rank.barrier();
    if (rank.rank == 0) faults.set("pwrite:/store/:ENOSPC");
    rank.barrier();
  }
  perdure_level level{};
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", 2, &level));
  REQUIRE(level == PERDURE_LEVEL_NODE);
  rank.barrier();
  ::raise(SIGKILL);
  return 0;
}

int comes_back(perdure_t* handle, State& state, bool lost) {
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
  REQUIRE(state.step == 2 && state.right());
  perdure_progress progress{};
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_get_progress(handle, &progress));
  REQUIRE(progress.restore_source == (lost ? 5 : 1));
  return 0;
}

int is_refused(perdure_t* handle, State& state, int rank) {
  REQUIRE(perdure_restore(handle, "app", 2) == PERDURE_INCOMPLETE);
  const std::string why = perdure_error_text(handle);
  REQUIRE(why.find("app version 2") != std::string::npos && why.find("gone") != std::string::npos);
  REQUIRE(state.step == 0 && state.right());
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
  REQUIRE(state.step == 1 && state.right());
  REQUIRE(rank != 0 || all_reports(handle).find("app version 1") != std::string::npos);
  return 0;
}

TEST_P(ExhaustiveLosses, ComeBackOrAreRefusedWithTheReason) {
  faults_.set("");
  const auto lives = run([&](const Rank& rank) { return two_versions(rank, options(), faults_); });
  ASSERT_TRUE(lives.all(128 + SIGKILL)) << lives.text();
  const NodesAsTheyWere whole(directory_.path());
  const unsigned n = GetParam().n;
  for (std::uint64_t set = 0; set + 1 < (1ULL << n); ++set) {
    const perdure::redundancy::Positions lost(set);
    whole.put_back();
    for (unsigned node = 0; node < n; ++node) {
      ASSERT_TRUE(!lost[node] || lose_node(directory_.path(), options(), static_cast<int>(node)) > 0);
    }
    const auto outcome = run([&](const Rank& rank) {
      perdure_t* handle = rank.open(options());
      State state(rank.rank, kShapeWords);
      state.protect(handle);
      const bool gone = lost[static_cast<std::size_t>(rank.rank)];
      const int wrong = survives(lost) ? comes_back(handle, state, gone) : is_refused(handle, state, rank.rank);
      rank.barrier();
      ::_exit(wrong);
      return wrong;
    });
    ASSERT_TRUE(outcome.all(0)) << "lost " << lost.to_string().substr(lost.size() - n) << ": " << outcome.text();
  }
}

}  // namespace
