// Tests that level node keeps its promise, in jobs of several redundancy groups without a store. Checkpoints come
// faster than they can be replicated, in full tiers. At a random moment every rank asks for the level of every version.
// Then everything dies and every allowed set of nodes is lost; versions that were at level node have to come back.
// PERDURE_TEST_SEEDS=100-200 takes these seeds instead of the few of every day.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>

#include "node_directories.hpp"
#include "redundancy/registry.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr int kRushNodes = 4, kRushGroup = 2;
constexpr std::size_t kMostVersions = 64;

/// The results that the ranks got.
struct Claims {
  std::array<std::atomic<bool>, kMostVersions> at_level_node{};
  std::atomic<std::uint64_t> failed = 0, captured = 0;
};

/// The job of one seed, which is the same on every rank.
struct Rush {
  explicit Rush(unsigned seed) : random(seed) {
    const std::array<const char*, 3> schemes = {"partner", "buddy", "xor"};
    scheme = schemes[random() % schemes.size()];
    // The groups have different amounts of data.
    for (auto& words : words_of_group) words = 2000 + random() % 60'000;
    const std::size_t most = std::max(words_of_group[0], words_of_group[1]) * sizeof(std::uint64_t);
    const std::size_t chunks = most / (128 << 10) + 1;
    versions_that_fit = 2 + random() % 4;
    bytes_of_version = 2 * chunks * (128 << 10);
    checkpoints = 3 + random() % 20;
  }
  std::mt19937 random;
  std::string scheme;
  std::array<std::size_t, 2> words_of_group{};
  std::size_t bytes_of_version = 0, versions_that_fit = 0;
  std::uint64_t checkpoints = 0;
  std::size_t words(int rank) const {
    const auto& first = groups().front();
    const bool in_first = std::find(first.begin(), first.end(), static_cast<std::uint32_t>(rank)) != first.end();
    return words_of_group[in_first ? 0 : 1];
  }
  /// Two groups of two nodes each.
  static const std::vector<std::vector<std::uint32_t>>& groups() {
    static const auto plan = perdure::redundancy::plan_groups(std::vector<perdure::redundancy::Domains>(kRushNodes),
                                                              kRushGroup, {"partner", 2, 64});
    return plan->groups;
  }
};

class NodeLevels : public ::testing::TestWithParam<unsigned> {
 protected:
  std::string options() const { return options(rush_.versions_that_fit); }
  std::string options(std::size_t versions_that_fit) const {
    return options_in(directory_.path(), "embedded",
                      "node.ranks_per_node=1;tier.order=file;checkpoint.timeout=1;redundancy.group_size=" +
                          std::to_string(kRushGroup) + ";redundancy.scheme=" + rush_.scheme +
                          ";tier.file.max_bytes=" + std::to_string(rush_.bytes_of_version * versions_that_fit));
  }
  Outcome run(const std::function<int(const Rank&)>& body) const {
    RunOptions run;
    run.ranks = kRushNodes;
    run.kill_all_when_one_dies = false;
    run.timeout_s = 150;
    run.in_child = [this](int) {
      ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "16", 1);  // fewer buffers of the provider, which take most of the time
      ::setenv("PERDURE_TEST_FAULTS", ("pwrite:" + directory_.path() + "/store:ENOSPC").c_str(), 1);
    };
    return run_ranks(run, body);
  }
  int rush(const Rank& rank, Claims& claims) const;
  int comes_back(const Rank& rank, std::int64_t version, std::uint64_t step) const;

  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
  const Rush rush_{GetParam()};
};

// The tiers have no room, or the call took too long: the next one may succeed.
bool refused(perdure_status status) {
  return status == PERDURE_NO_SPACE || status == PERDURE_TIMEOUT || status == PERDURE_PEER_FAILED;
}

int NodeLevels::rush(const Rank& rank, Claims& claims) const {
  perdure_t* handle = rank.open(options());
  State state(rank.rank, rush_.words(rank.rank));
  state.protect(handle);
  std::mt19937 random = rush_.random;
  for (std::uint64_t step = 1; step <= rush_.checkpoints; ++step) {
    state.advance(step);
    const auto version = static_cast<std::int64_t>(step);
    const perdure_status done = perdure_checkpoint(handle, "app", version);
    if (done != PERDURE_OK && !refused(done)) REQUIRE_STATUS(PERDURE_OK, handle, done);
    if (rank.rank == 0) ++(done == PERDURE_OK ? claims.captured : claims.failed);
    const auto pause_us = random() % 3 == 0 ? random() % 60'000 : random() % 3000;
    ::usleep(static_cast<useconds_t>(pause_us));  // wait: it computes
    const bool waits = random() % 6 == 0;
    const auto older = static_cast<std::int64_t>(1 + random() % step);
    if (waits) (void)perdure_wait(handle, "app", older, PERDURE_LEVEL_NODE, 0.3);
  }
  for (std::int64_t version = 1; version <= static_cast<std::int64_t>(rush_.checkpoints); ++version) {
    perdure_level level{};
    const perdure_status known = perdure_level_reached(handle, "app", version, &level);
    if (known == PERDURE_NOT_FOUND) continue;
    REQUIRE_STATUS(PERDURE_OK, handle, known);
    if (level >= PERDURE_LEVEL_NODE) claims.at_level_node[static_cast<std::size_t>(version)] = true;
  }
  rank.barrier();
  ::usleep(static_cast<useconds_t>(random() % 100'000));  // wait: killed at a drawn moment, while engines make room
  rank.barrier();
  ::raise(SIGKILL);
  return 0;
}

int NodeLevels::comes_back(const Rank& rank, std::int64_t version, std::uint64_t step) const {
  perdure_t* handle = rank.open(options());
  State state(rank.rank, rush_.words(rank.rank));
  state.protect(handle);
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", version));
  REQUIRE((version < 0 ? state.step >= step : state.step == step) && state.right());
  rank.barrier();
  ::_exit(0);
  return 0;
}

Seeds rush_seeds() { return chosen_seeds().value_or(Seeds{1, unless_sanitized(6U, 2U)}); }

INSTANTIATE_TEST_SUITE_P(Seeds, NodeLevels, ::testing::Range(rush_seeds().first, rush_seeds().last + 1),
                         [](const auto& seed) { return std::to_string(seed.param); });

TEST_P(NodeLevels, WhatIsAtLevelNodeComesBackAfterAnyLossThatItIsToSurvive) {
  SharedMemory<Claims> claims;
  const auto lives = run([&](const Rank& rank) { return rush(rank, *claims); });
  ASSERT_TRUE(lives.all(128 + SIGKILL)) << lives.text();
  std::vector<std::uint64_t> claimed;
  for (std::size_t version = 1; version < kMostVersions; ++version)
    if (claims->at_level_node[version]) claimed.push_back(version);
  const std::string story = rush_.scheme + ", tiers for " + std::to_string(rush_.versions_that_fit) + " versions; " +
                            std::to_string(claims->captured) + " captured, " + std::to_string(claims->failed) +
                            " refused, at level node " + ::testing::PrintToString(claimed);
  if (std::getenv("PERDURE_TEST_TELL") != nullptr) std::fprintf(stderr, "%s\n", story.c_str());
  if (claimed.empty()) return;  // nothing was claimed: CheckpointsAlwaysGetToLevelNodeAgain says whether it should
  if (claimed.size() > 3) claimed = {claimed.front(), claimed[claimed.size() / 2], claimed.back()};
  const NodesAsTheyWere whole(directory_.path());
  for (const std::uint64_t version : claimed)
    for (std::size_t set = 0; set < 4; ++set) {
      const std::pair lost(static_cast<int>(Rush::groups()[0][set & 1]), static_cast<int>(Rush::groups()[1][set >> 1]));
      whole.put_back();
      for (const int node : {lost.first, lost.second}) ASSERT_GT(lose_node(directory_.path(), options(), node), 0U);
      const std::int64_t asked =
          version == claimed.back() && set == 0 ? PERDURE_LATEST : static_cast<std::int64_t>(version);
      const auto outcome = run([&](const Rank& rank) { return comes_back(rank, asked, version); });
      ASSERT_TRUE(outcome.all(0)) << "version " << version << " without nodes " << lost.first << " and " << lost.second
                                  << ": " << story << "\n"
                                  << outcome.text();
    }
}

// There is room for all versions here, however fast they come and whichever each group skips.
TEST_P(NodeLevels, CheckpointsAlwaysGetToLevelNodeAgain) {
  constexpr std::uint64_t kRush = 30, kPatience = 1000;
  const auto outcome = run([&](const Rank& rank) {
    perdure_t* handle = rank.open(options(64));
    State state(rank.rank, rush_.words(rank.rank));
    state.protect(handle);
    std::uint64_t at_node = 0;
    for (std::uint64_t step = 1; step <= kRush || (at_node <= kRush / 2 && step < kPatience); ++step) {
      if (step > kRush) ::usleep(20'000);  // wait: it computes
      state.advance(step);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", static_cast<std::int64_t>(step)));
      // All ranks agree before they ask, and no promised version is lost.
      for (std::uint64_t version = at_node + 1; version <= step; ++version) {
        perdure_level level{};
        const auto known = perdure_level_reached(handle, "app", static_cast<std::int64_t>(version), &level);
        if (known == PERDURE_OK && level == PERDURE_LEVEL_NODE) at_node = version;
      }
    }
    REQUIRE(at_node > kRush / 2);
    rank.barrier();
    ::_exit(0);
    return 0;
  });
  ASSERT_TRUE(outcome.all(0)) << outcome.text();
}

/// Two nodes copy each other's pieces, without a store.
class WentBack : public ::testing::Test {
 protected:
  std::string options() const {
    return options_in(directory_.path(), "embedded",
                      "node.ranks_per_node=1;tier.order=file;checkpoint.timeout=2;redundancy.scheme=partner;"
                      "tier.file.max_bytes=1MiB");
  }
  void on_ranks(const std::function<int(const Rank&, perdure_t*, State&)>& part) const {
    RunOptions run;
    run.ranks = 2;
    run.kill_all_when_one_dies = false;
    run.in_child = [this](int) {
      std::string rules;  // segments do not reach the store; records of the name do
      for (int version = 1; version <= 9; ++version)
        rules += "pwrite:" + directory_.path() + "/store/app/" + std::to_string(version) + "/:ENOSPC;";
      ::setenv("PERDURE_TEST_FAULTS", rules.substr(0, rules.size() - 1).c_str(), 1);
    };
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      perdure_t* handle = rank.open(options());
      State state(rank.rank, kWords);
      state.protect(handle);
      const int wrong = part(rank, handle, state);
      rank.barrier();
      ::_exit(wrong);
      return wrong;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  }
  static int checkpoint(perdure_t* handle, State& state, std::uint64_t step, bool to_node) {
    state.advance(step);
    const auto version = static_cast<std::int64_t>(step);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
    if (to_node) REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 30));
    return 0;
  }
  static constexpr std::size_t kWords = 24000;  // two chunks: the tiers have room for two versions with their copies
  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
};

// Whatever is evicted for a third version, the older version that the program went back to and waited for stays.
TEST_F(WentBack, AndWaitedTheOlderVersionIsNotTheFirstToGo) {
  on_ranks([](const Rank& rank, perdure_t* handle, State& state) {
    REQUIRE(checkpoint(handle, state, 1, true) == 0);
    REQUIRE(checkpoint(handle, state, 2, true) == 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    REQUIRE(state.step == 1 && state.right());
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_NODE, 30));
    REQUIRE(checkpoint(handle, state, 3, false) == 0);
    // There is room for the copies of two versions, and both are promised.
    REQUIRE(perdure_wait(handle, "app", 3, PERDURE_LEVEL_NODE, 1) == PERDURE_TIMEOUT);
    perdure_level level{};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", 1, &level));
    REQUIRE(level == PERDURE_LEVEL_NODE);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", 2, &level));
    REQUIRE(level == PERDURE_LEVEL_NODE);
    rank.barrier();
    return 0;
  });
  ASSERT_GT(lose_node(directory_.path(), options(), 1), 0U);
  on_ranks([](const Rank&, perdure_t* handle, State& state) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    REQUIRE(state.step == 1 && state.right());
    return 0;
  });
}

// Its copies have made room for others since. They are made again, although the group had the version at the level
// before.
TEST_F(WentBack, WhatHasGoneSinceIsReplicatedAnew) {
  on_ranks([](const Rank&, perdure_t* handle, State& state) {
    REQUIRE(checkpoint(handle, state, 1, true) == 0);
    REQUIRE(checkpoint(handle, state, 2, true) == 0);
    REQUIRE(checkpoint(handle, state, 3, true) == 0);  // in the place of version 1's copies
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_retire(handle, "app", 2));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_retire(handle, "app", 3));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    REQUIRE(state.step == 1 && state.right());
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_NODE, 30));
    return 0;
  });
  ASSERT_GT(lose_node(directory_.path(), options(), 1), 0U);
  on_ranks([](const Rank&, perdure_t* handle, State& state) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    REQUIRE(state.step == 1 && state.right());
    return 0;
  });
}

/// A node is lost, and only other nodes have its data. The next launch does not need it.
TEST(OrderlyClose, KeepsRedundancyThatIsTheOnlyCopyAndSaysSo) {
  TemporaryDirectory directory{TemporaryDirectory::Place::memory};
  const std::string options =
      options_in(directory.path(), "embedded", "node.ranks_per_node=1;redundancy.scheme=xor;redundancy.group_size=3");
  const auto life = [&](bool full, const std::function<int(const Rank&, perdure_t*, State&)>& part) {
    RunOptions run;
    run.ranks = 3;
    run.kill_all_when_one_dies = false;
    run.in_child = [&](int) {
      if (full) ::setenv("PERDURE_TEST_FAULTS", ("pwrite:" + directory.path() + "/store:ENOSPC").c_str(), 1);
    };
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      perdure_t* handle = rank.open(options);
      State state(rank.rank, 24000);
      state.protect(handle);
      return part(rank, handle, state);
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  };
  life(true, [](const Rank& rank, perdure_t* handle, State& state) {
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_NODE, 30));
    rank.barrier();
    ::_exit(0);
    return 0;
  });
  ASSERT_GT(lose_node(directory.path(), options, 2), 0U);
  life(false, [](const Rank& rank, perdure_t* handle, State& state) {
    state.advance(7);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "other", 1));
    const perdure_status closed = perdure_close(&handle);
    const std::string why = perdure_error_text(nullptr);
    REQUIRE(closed == (rank.rank == 2 ? PERDURE_PEER_FAILED : PERDURE_INCOMPLETE));
    REQUIRE(rank.rank == 2 || (why.find("app version 1") != std::string::npos &&
                               why.find("/node/") != std::string::npos && why.find("restore") != std::string::npos));
    return 0;
  });
  life(false, [](const Rank&, perdure_t* handle, State& state) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 1 && state.right());
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 30));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  for (const char* part : {"/node", "/file"})
    EXPECT_TRUE(!fs::exists(directory.path() + part) || fs::is_empty(directory.path() + part)) << part;
}

}  // namespace
