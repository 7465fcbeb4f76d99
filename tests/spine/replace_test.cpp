// Tests rewriting an older version (checkpoint.replace) that dies half way, at every named crash point. Afterwards all
// ranks have the same old or new content, never a mixture.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "damage.hpp"
#include "os/crash_point.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

constexpr std::size_t kWords = 24000;  // two chunks
constexpr std::uint64_t kOld = 2, kNew = 1002;

struct Case {
  std::string mode, point;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.mode << ' ' << c.point; }

// The points of ranks do not depend on where the engine runs; those of engines are tried in both modes.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& point : os::kCrashPoints) {
    if (point.role == "redundancy") continue;
    cases.push_back({"embedded", std::string(point.name)});
    if (point.role == "engine") cases.push_back({"daemon", std::string(point.name)});
  }
  return cases;
}

RunOptions two_ranks() {
  RunOptions run;
  run.ranks = 2;
  return run;
}

std::string options(const std::string& directory, const std::string& mode) {
  return options_in(directory, mode, "node.ranks_per_node=1;checkpoint.replace=true");
}

// A store with versions 1 and 2, made once.
const std::string& sample_store() {
  static TemporaryDirectory directory;
  static const std::string path = [] {
    Program program{options(directory.path(), "embedded")};
    program.words = kWords;
    program.last = kOld;
    program.wait_for_store = true;
    const auto outcome = run_ranks(two_ranks(), [&](const Rank& rank) { return program.run(rank); });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    return directory.path() + "/store";
  }();
  return path;
}

class Replace : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Every, Replace, ::testing::ValuesIn(all_cases()),
                         [](const auto& param) { return param.param.mode + "_" + param.param.point; });

TEST_P(Replace, HalfWayLeavesTheOldContentOrTheNewOnAllRanks) {
  const auto& [mode, point] = GetParam();
  TemporaryDirectory directory;
  fs::copy(sample_store(), directory.path() + "/store", fs::copy_options::recursive);
  const std::string settings = options(directory.path(), mode);

  auto outcome = run_ranks(two_ranks(), [&, point = point](const Rank& rank) {
    // Only one rank and its node's engine die, so that the others are caught at every stage. A handle that is being
    // opened makes the first inventory request; it fails if every engine dies of that.
    if (rank.rank == 1)
      ::setenv("PERDURE_TEST_CRASH", (point + (point == "engine_inventory" ? ":2" : ":1")).c_str(), 1);
    perdure_t* handle = rank.open(settings);
    State state(rank.rank, kWords);
    state.protect(handle);
    if (perdure_restore(handle, "app", 2) != PERDURE_OK) return 0;  // a new start replaces nothing
    state.advance(kNew);
    (void)perdure_checkpoint(handle, "app", 2);
    (void)perdure_wait(handle, "app", 2, PERDURE_LEVEL_STORE, 5);
    (void)perdure_close(&handle);
    return 0;
  });
  for (int code : outcome.exit_codes) ASSERT_TRUE(code == 0 || code == 128 + SIGKILL) << outcome.text();
  kill_engines(directory.path());

  outcome = run_ranks(two_ranks(), [&](const Rank& rank) {
    perdure_t* handle = rank.open(settings);
    State state(rank.rank, kWords);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.right() && (state.step == kOld || state.step == kNew));
    const int found = state.step == kOld ? 10 : 11;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 2));
    REQUIRE(state.right() && (state.step == kOld ? 10 : 11) == found);
    state.advance(3);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 3));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return found;
  });
  EXPECT_TRUE(outcome.all(10) || outcome.all(11)) << outcome.text();
  stop_daemons(directory.path());
  expect_clean_store(directory.path() + "/store", "app", {2, 3});
}

TEST(ReplaceAlone, UndisturbedGivesTheNewContent) {
  TemporaryDirectory directory;
  const std::string settings = options(directory.path(), "embedded");
  const auto outcome = run_ranks(two_ranks(), [&](const Rank& rank) {
    perdure_t* handle = rank.open(settings);
    State state(rank.rank, kWords);
    state.protect(handle);
    for (std::uint64_t step : {kOld, kNew, kNew + 1}) {
      state.advance(step);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 2));
      if (step == kNew) REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 2, PERDURE_LEVEL_STORE, 30));
    }
    state.advance(0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 2));
    REQUIRE(state.step == kNew + 1 && state.right());
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  expect_clean_store(directory.path() + "/store", "app", {2});
}

}  // namespace
