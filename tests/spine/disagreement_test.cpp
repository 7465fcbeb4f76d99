// Tests ranks that do not make the same call: every rank gets an error, none hangs, and the handle works afterwards.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "damage.hpp"
#include "os/system.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

class Disagreement : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options(const std::string& more = {}) const {
    return options_in(directory_.path(), GetParam(), "node.ranks_per_node=2" + (more.empty() ? "" : ";" + more));
  }
  // Four ranks on two nodes have version 1 of "app"; after `body`, version 2 must succeed.
  void run(const std::function<int(const Rank&, perdure_t*, State&)>& body, const std::string& more = {}) {
    const auto outcome = run_ranks({}, [&](const Rank& rank) {
      perdure_t* handle = rank.open(options(more));
      State state(rank.rank, 2000);
      state.protect(handle);
      state.advance(1);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
      if (const int failed = body(rank, handle, state); failed != 0) return failed;
      REQUIRE(state.step == 1 && state.right());
      state.protect(handle);
      state.advance(20);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 20));
      state.advance(0);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
      REQUIRE(state.step == 20 && state.right());
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
      return 0;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory_.path());
    expect_clean_store(directory_.path() + "/store", "app", {1, 20});
  }
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Disagreement, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

// All ranks learn the answer of one. If one rank asks while another checkpoints, both calls are refused.
TEST_P(Disagreement, OfWhatOneRankSaysAllHear) {
  run([](const Rank& rank, perdure_t* handle, State&) {
    int any = -1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_any(handle, 0, &any));
    REQUIRE(any == 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_any(handle, rank.rank == 2 ? 7 : 0, &any));
    REQUIRE(any == 1);
    if (rank.rank == 3)
      REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_checkpoint(handle, "app", 2));
    else
      REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_any(handle, 1, &any));
    return 0;
  });
}

// One rank gets the signal; a rank that has checkpointed since is not asked again.
TEST_P(Disagreement, OfReasonsForACheckpointAllRanksHearTheSame) {
  run(
      [](const Rank& rank, perdure_t* handle, State&) {
        unsigned reasons = 77;
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_due(handle, &reasons));
        REQUIRE(reasons == 0);
        if (rank.rank == 2) REQUIRE(std::raise(SIGUSR1) == 0);
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_due(handle, &reasons));
        REQUIRE(reasons == PERDURE_DUE_SIGNAL);
        REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_due(handle, nullptr));
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 2));
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_due(handle, &reasons));
        REQUIRE(reasons == 0);
        if (rank.rank == 3) REQUIRE(std::raise(SIGTERM) == 0);
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_due(handle, &reasons));
        REQUIRE(reasons == (PERDURE_DUE_SIGNAL | PERDURE_DUE_END));
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_retire(handle, "app", 2));
        return 0;
      },
      "signals=checkpoint");
}

// Each node finds another file under the path of node.topology, but groups have to be the same on all.
TEST_P(Disagreement, AboutTheTopologyIsNoneBecauseAllTakeTheFileOfRankZero) {
  const std::string host = perdure::os::host_name();
  const auto at = [&](const char* first, const char* second, const char* third, const char* fourth) {
    return host + "#0 " + first + "\n" + host + "#1 " + second + "\n" + host + "#2 " + third + "\n" + host + "#3 " +
           fourth + "\n";
  };
  const std::vector<std::string> files{at("a", "a", "b", "b"), at("a", "b", "a", "b"), "no topology at all\nx\n", ""};
  RunOptions nodes;
  nodes.in_child = [&](int rank) {
    const std::string own = directory_.path() + "/" + std::to_string(rank);
    fs::create_directories(own);
    const std::string& file = files[static_cast<std::size_t>(rank)];
    if (!file.empty()) std::ofstream(own + "/topology") << file;
    if (::chdir(own.c_str()) != 0) std::abort();
  };
  const auto outcome = run_ranks(nodes, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options_in(directory_.path(), GetParam(),
                                             "node.ranks_per_node=1;redundancy.scheme=partner;node.topology=topology"));
    State state(rank.rank, 2000);
    state.protect(handle);
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_NODE, 30));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(Disagreement, AboutNamesIsAnErrorOnAllRanks) {
  run([](const Rank& rank, perdure_t* handle, State&) {
    const char* name = rank.rank == 2 ? "other" : "app";
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_checkpoint(handle, name, 5));
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, name, PERDURE_LATEST));
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_retire(handle, name, 1));
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_wait(handle, name, 1, PERDURE_LEVEL_STORE, 5));
    std::int64_t version = -1;
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_latest(handle, name, &version));
    return 0;
  });
}

TEST_P(Disagreement, AboutVersionsIsAnErrorOnAllRanks) {
  run([](const Rank& rank, perdure_t* handle, State&) {
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_checkpoint(handle, "app", rank.rank == 3 ? 6 : 5));
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", rank.rank == 1 ? PERDURE_LATEST : 1));
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_wait(handle, "app", rank.rank, PERDURE_LEVEL_STORE, 5));
    REQUIRE_STATUS(PERDURE_MISMATCH, handle,
                   perdure_wait(handle, "app", 1, rank.rank == 0 ? PERDURE_LEVEL_STORE : PERDURE_LEVEL_PROCESS, 5));
    return 0;
  });
}

TEST_P(Disagreement, AboutTheCallIsAnErrorOnAllRanks) {
  run([](const Rank& rank, perdure_t* handle, State&) {
    const bool odd = rank.rank % 2 == 1;
    REQUIRE_STATUS(PERDURE_MISMATCH, handle,
                   odd ? perdure_checkpoint(handle, "app", 1) : perdure_restore(handle, "app", 1));
    REQUIRE(std::strstr(perdure_error_text(handle), "checkpoint") != nullptr ||
            std::strstr(perdure_error_text(handle), "restore") != nullptr);
    REQUIRE_STATUS(PERDURE_MISMATCH, handle,
                   odd ? perdure_retire(handle, "app", 1) : perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 5));
    perdure_region_size size;
    std::int64_t version = -1;
    REQUIRE_STATUS(PERDURE_MISMATCH, handle,
                   odd ? perdure_stored_size(handle, "app", -1, 1, &size) : perdure_latest(handle, "app", &version));
    return 0;
  });
}

TEST_P(Disagreement, OneRankWithABadArgumentFailsAllRanks) {
  run([](const Rank& rank, perdure_t* handle, State&) {
    const bool bad = rank.rank == 3;
    for (const std::string& name :
         {std::string("no/slash"), std::string(), std::string(10000, 'x'), std::string(".dot")}) {
      const char* mine = bad ? name.c_str() : "app";
      REQUIRE(perdure_checkpoint(handle, mine, 5) != PERDURE_OK);
      REQUIRE(perdure_restore(handle, mine, PERDURE_LATEST) != PERDURE_OK);
      if (bad) REQUIRE(perdure_error_text(handle)[0] != '\0');
      REQUIRE(perdure_wait(handle, mine, 1, PERDURE_LEVEL_STORE, 5) != PERDURE_OK);
    }
    REQUIRE(perdure_checkpoint(handle, bad ? nullptr : "app", 5) != PERDURE_OK);
    REQUIRE(perdure_checkpoint(handle, "app", bad ? -1 : 5) != PERDURE_OK);
    const int protected_id = 1, unknown_id = 77;
    REQUIRE_STATUS(PERDURE_MISMATCH, handle,
                   perdure_restore_regions(handle, "app", 1, bad ? &unknown_id : &protected_id, 1));
    REQUIRE(std::strstr(perdure_error_text(handle), "region 77 is not protected") != nullptr);
    REQUIRE_STATUS(PERDURE_MISMATCH, handle,
                   perdure_restore_regions(handle, "app", 1, bad ? nullptr : &protected_id, 1));
    return 0;
  });
}

TEST_P(Disagreement, OneRankWithAnotherRegionSizeIsAMismatchOnAllRanksAndTouchesNothing) {
  run([](const Rank& rank, perdure_t* handle, State& state) {
    const bool bad = rank.rank == 1;
    std::uint64_t extra = 5;
    if (bad)
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 2, state.words.data(), 8, state.words.size() - 1));
    const auto told = [&](const char* what) { return std::strstr(perdure_error_text(handle), what) != nullptr; };
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", 1));
    REQUIRE(told("app version 1, rank 1: it does not fit what is protected: region 2: it was stored as "));
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    state.protect(handle);
    if (bad) REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 3, &extra, 8, 1));
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", 1));
    REQUIRE(told("rank 1: it does not fit what is protected: region 3 is protected and not stored"));
    if (bad) REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, 3));
    REQUIRE(state.step == 1 && state.right() && extra == 5);
    return 0;
  });
}

TEST_P(Disagreement, AboutOptionsKeepsAllRanksFromOpening) {
  const auto outcome = run_ranks({}, [&](const Rank& rank) {
    char message[1024] = "";
    perdure_t* handle = nullptr;
    const std::string other = options(rank.rank == 2 ? "retention.keep_last=7" : "");
    REQUIRE(perdure_open_communicator(&rank.communicator, other.c_str(), &handle, message, sizeof message) ==
            PERDURE_MISMATCH);
    REQUIRE(handle == nullptr && message[0] != '\0');
    const std::string wrong = options(rank.rank == 2 ? "retention.keep_lats=7" : "");
    const perdure_status expected =
        rank.rank == 2 ? PERDURE_INVALID_ARGUMENT : PERDURE_MISMATCH;  // rank 2 has other options
    REQUIRE(perdure_open_communicator(&rank.communicator, wrong.c_str(), &handle, message, sizeof message) == expected);
    handle = rank.open(options());
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(Disagreement, OneRankThatClosesWhileTheOthersGoOnIsAnErrorAndNoHang) {
  const auto outcome = run_ranks({}, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    REQUIRE_STATUS(PERDURE_MISMATCH, handle,
                   rank.rank == 1 ? perdure_close(&handle) : perdure_checkpoint(handle, "app", 1));
    REQUIRE((handle == nullptr) == (rank.rank == 1));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(Disagreement, AnotherNumberOfRanksThanWroteItIsRefusedWithTheNumbers) {
  Program program{options()};
  program.words = 2000;
  program.last = 2;
  program.wait_for_store = true;
  auto outcome = run_ranks({}, [&](const Rank& rank) { return program.run(rank); });
  ASSERT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
  for (int ranks : {3, 5}) {
    RunOptions other;
    other.ranks = ranks;
    outcome = run_ranks(other, [&](const Rank& rank) {
      perdure_t* handle = rank.open(options());
      State state(rank.rank, 2000);
      state.protect(handle);
      REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", PERDURE_LATEST));
      REQUIRE(std::strstr(perdure_error_text(handle), "4 ranks") != nullptr);
      REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", 2));
      REQUIRE(state.step == 0 && state.right());
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
      return 0;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory_.path());
  }
}

}  // namespace
