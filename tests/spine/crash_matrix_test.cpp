// Tests every named crash point by killing real processes. After the restart, the newest acknowledged version is there
// with the right content, and no partial version is listed or left behind. The test
// src/engine/host/crash_states_test.cpp covers every state that a death may leave of a node and its store. Here whole
// ranks and engines pass each point once. A campaign (PERDURE_TEST_CAMPAIGN) passes each in both modes, for the first
// time and later, in every kind of checkpoint.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "os/crash_point.hpp"
#include "os/write_protection.hpp"
#include "scenario.hpp"
#include "store/store.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

struct Case {
  std::string mode;
  os::CrashPoint point;
  int hit;
  bool overflow = false;  ///< the tiers are smaller than one checkpoint
  bool small = false;     ///< a checkpoint is one message to the engine
  bool on_write = false;  ///< captures copy while the memory is overwritten
};

// The hit numbers to test: the first pass of a point, with slots in memory, and a later one. The later one has slots in
// files, and versions in all states exist. The dying life restores twice and compacts once. The first request to an
// engine comes from a handle that is being opened; opening fails if every new engine dies.
std::vector<int> hits_of(std::string_view point) {
  if (point.starts_with("spill_")) return {};  // only if a checkpoint is larger than the tiers
  if (point.starts_with("catalog_") || point == "engine_locate") return {1};
  if (point == "engine_inventory") return {2};
  if (point.starts_with("evict_") || point.starts_with("restore_")) return {1, 2};
  return {1, 3};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* mode : {"embedded", "daemon"})
    for (std::size_t i = 0; i < os::kCrashPoints.size(); ++i)
      for (int hit : hits_of(os::kCrashPoints[i].name))
        if (os::kCrashPoints[i].role != "redundancy") cases.push_back({mode, static_cast<os::CrashPoint>(i), hit});
  return cases;
}

// A checkpoint that is larger than the tiers passes most points more often. It never has a stored version to evict, and
// is restored from the store.
std::vector<Case> overflow_cases() {
  std::vector<Case> cases;
  for (const char* mode : {"embedded", "daemon"})
    for (std::size_t i = 0; i < os::kCrashPoints.size(); ++i) {
      const std::string_view point = os::kCrashPoints[i].name;
      if (point.starts_with("evict_") || point == "engine_locate" || os::kCrashPoints[i].role == "redundancy") continue;
      const bool often = point.starts_with("spill_") || point == "flush_chunk" || point == "engine_written";
      std::vector<int> hits{point.starts_with("catalog_") ? 1 : 2};
      if (often) hits = point.starts_with("spill_") ? std::vector<int>{1, 2} : std::vector<int>{1, 2, 5};
      for (int hit : hits) cases.push_back({mode, static_cast<os::CrashPoint>(i), hit, true});
    }
  return cases;
}

// Returns the points of a capture.
std::vector<Case> capture_cases(const Case& like) {
  std::vector<Case> cases;
  for (const char* mode : {"embedded", "daemon"})
    for (std::size_t i = 0; i < os::kCrashPoints.size(); ++i) {
      const std::string_view point = os::kCrashPoints[i].name;
      const bool captures = point.starts_with("checkpoint_") || point.starts_with("engine_stage_") ||
                            point.starts_with("engine_commit_") || point == "engine_grant" || point == "engine_written";
      if (!captures) continue;
      for (const int hit : {1, 3}) {
        cases.push_back(like);
        cases.back().mode = mode;
        cases.back().point = static_cast<os::CrashPoint>(i);
        cases.back().hit = hit;
      }
    }
  return cases;
}

// A checkpoint in one message passes all points of a capture except the grant of a slot.
std::vector<Case> small_cases() {
  auto cases = capture_cases({.mode = {}, .point = {}, .hit = 1, .small = true});
  std::erase_if(cases, [](const Case& c) { return c.point == os::CrashPoint::checkpoint_slot_granted; });
  return cases;
}

// On write, another thread copies the memory, so a copy is seldom half done for the third time.
std::vector<Case> on_write_cases() {
  auto cases = capture_cases({.mode = {}, .point = {}, .hit = 1, .on_write = true});
  std::erase_if(cases, [](const Case& c) { return c.point == os::CrashPoint::checkpoint_chunk_half && c.hit > 1; });
  return cases;
}

std::string_view point_of(const Case& c) { return os::kCrashPoints[static_cast<std::size_t>(c.point)].name; }

const char* kind_of(const Case& c) {
  return c.overflow ? "_overflow" : c.small ? "_small" : c.on_write ? "_on_write" : "";
}

// FNV-1a: the same on every machine.
std::size_t drawn_by(const std::string& name, std::size_t alternatives) {
  std::uint32_t number = 2166136261;
  for (const char letter : name) number = (number ^ static_cast<unsigned char>(letter)) * 16777619;
  return number % alternatives;
}

bool whole_matrix() { return std::getenv("PERDURE_TEST_CAMPAIGN") != nullptr; }

// For each point, draws one case by its name. Some have slots in memory, some in files; some run in a daemon. At the
// points of an engine's first request and last work, it is a daemon. It dies before a handle knows it, or after the
// last handle left it.
std::vector<Case> one_of_each_point(const std::vector<Case>& cases) {
  if (whole_matrix()) return cases;
  const auto wants_daemon = [](std::string_view point) {
    return point == "engine_inventory" || point == "engine_locate" || point == "retire_done";
  };
  std::map<std::string_view, std::vector<Case>> by_point;
  for (const Case& c : cases)
    if (c.mode == "daemon" || !wants_daemon(point_of(c))) by_point[point_of(c)].push_back(c);
  std::vector<Case> drawn;
  for (const auto& [point, of_it] : by_point)
    drawn.push_back(of_it[drawn_by(std::string(point) + kind_of(of_it[0]), of_it.size())]);
  return drawn;
}

// In an overflow, unlike a checkpoint that fits, slots are reused before the checkpoint is complete.
std::vector<Case> drawn_overflows() {
  constexpr std::array<std::string_view, 6> kOtherwise = {
      "engine_grant",  "engine_written", "engine_commit_after_catalog",
      "flush_created", "flush_chunk",    "flush_before_rename"};
  auto drawn = one_of_each_point(overflow_cases());
  if (!whole_matrix())
    std::erase_if(drawn, [&](const Case& c) {
      return !point_of(c).starts_with("spill_") &&
             std::find(kOtherwise.begin(), kOtherwise.end(), point_of(c)) == kOtherwise.end();
    });
  return drawn;
}

// Each point of a capture goes either to small checkpoints or to those that copy on write.
std::vector<Case> dealt_captures(const std::vector<Case>& cases) {
  auto drawn = one_of_each_point(cases);
  if (!whole_matrix())
    std::erase_if(drawn, [](const Case& c) { return (static_cast<int>(c.point) % 2 == 0) != c.on_write; });
  return drawn;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  const auto& c = info.param;
  return c.mode + "_" + std::string(point_of(c)) + "_" + std::to_string(c.hit) + kind_of(c);
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.mode << ' ' << point_of(c) << ':' << c.hit; }

class CrashMatrix : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Every, CrashMatrix, ::testing::ValuesIn(one_of_each_point(all_cases())), case_name);
INSTANTIATE_TEST_SUITE_P(Overflow, CrashMatrix, ::testing::ValuesIn(drawn_overflows()), case_name);
INSTANTIATE_TEST_SUITE_P(Small, CrashMatrix, ::testing::ValuesIn(dealt_captures(small_cases())), case_name);
INSTANTIATE_TEST_SUITE_P(OnWrite, CrashMatrix, ::testing::ValuesIn(dealt_captures(on_write_cases())), case_name);

// Two nodes of one rank each; rank 0's node also does retention. The second rank's process dies, or both engines.
TEST_P(CrashMatrix, RestoresTheNewestCompleteVersionAndLeavesNothingPartial) {
  const Case& c = GetParam();
  if (c.on_write && !os::WriteProtection::open()) GTEST_SKIP() << "this system cannot protect memory against writes";
  const std::string name(point_of(c));
  TemporaryDirectory directory;
  // Every point must be passed. So there is room for two versions while the store keeps three, and the catalog is
  // compacted often.
  std::string tier = c.hit == 1 || c.small || c.on_write ? "tier.order=memory;tier.memory.max_bytes=8MiB"
                                                         : "tier.order=file;tier.file.max_bytes=512KiB";
  if (c.overflow)
    tier =
        c.hit % 2 == 1 ? "tier.order=memory;tier.memory.max_bytes=4MiB" : "tier.order=file;tier.file.max_bytes=256KiB";
  Program program{options_in(directory.path(), c.mode,
                             (name.starts_with("spill_") ? "" : "node.ranks_per_node=1;") +
                                 std::string("retention.keep_last=3;catalog.compact_above=1KiB;") + tier +
                                 (c.on_write ? ";capture.mode=cow" : ""))};
  program.on_write = c.on_write;
  program.restore_at_end = true;
  program.words = c.overflow ? 70000 : c.small ? 500 : 24000;  // five chunks, a short one, or two
  program.acknowledged = directory.path() + "/acknowledged";
  // The rank with less data is ready long before the other, which then needs its slots.
  const bool uneven = name.starts_with("spill_");
  const auto life_of = [&](const Rank& rank) {
    Program mine = program;
    if (uneven && rank.rank == 1) mine.words *= 3;
    return mine.run(rank);
  };
  const std::string marker = directory.path() + "/died";
  RunOptions run;
  run.ranks = 2;

  // The first life leaves versions to restore and to retire.
  program.last = 2;
  program.wait_for_store = true;
  auto outcome = run_ranks(run, life_of);
  ASSERT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());

  // The life that dies: all processes that reach the point die at its `hit`-th pass. While flushes run, a request for a
  // slot takes one whose chunk is already in the temporary segment. If it must evict a whole stored version instead,
  // the flushes must be over.
  program.store_each_step = name.starts_with("evict_");
  program.tolerate_lost_engine = true;
  const std::string crash = name + ":" + std::to_string(c.hit);
  std::uint64_t last = 2;
  // Timing can decide whether a point is passed; if it is not, another life begins from the end of this one.
  for (int lives = 0; lives < 10 && !std::filesystem::exists(marker); ++lives) {
    program.last = last += 4;
    outcome = run_ranks(run, [&](const Rank& rank) {
      ::setenv("PERDURE_TEST_CRASH", crash.c_str(), 1);
      ::setenv("PERDURE_TEST_CRASH_MARKER", marker.c_str(), 1);
      return life_of(rank);
    });
    for (int code : outcome.exit_codes)
      EXPECT_TRUE(code == 0 || code == 128 + SIGKILL) << name << ": " << outcome.text();
    // Daemons may die after their clients have ended.
    stop_daemons(directory.path());
  }
  EXPECT_TRUE(std::filesystem::exists(marker)) << name << " was never passed for the " << c.hit << ". time";

  // In the next life engines do not die again: the survivors passed the point or never reached it.
  program.tolerate_lost_engine = false;
  program.store_each_step = false;
  program.must_restore_at_least = std::max<std::int64_t>(2, newest_acknowledged(program.acknowledged, run.ranks));
  program.last = last + 2;
  outcome = run_ranks(run, life_of);
  ASSERT_TRUE(outcome.all(0)) << name << ": " << outcome.text();
  stop_daemons(directory.path());
  expect_clean_store(directory.path() + "/store", "app", {last, last + 1, last + 2});
}

}  // namespace
