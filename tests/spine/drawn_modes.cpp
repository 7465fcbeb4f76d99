#include "drawn_modes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/bytes.hpp"
#include "base/hash.hpp"
#include "scenario.hpp"

namespace perdure::test_support {
namespace {

constexpr std::string_view kEmbedded = "embedded", kDaemon = "daemon";

constexpr RunsInBothModes kBoth[] = {
    // Suites about how an engine starts and ends, and which processes end with it.
    {"Restart", "a job starts, ends and dies with its engines, or without them"},
    {"Handles", "an embedded engine belongs to all handles of a process and ends with the last"},
    {"Disagreement.OneRankThatClosesWhileTheOthersGoOnIsAnErrorAndNoHang", "an embedded engine ends with its rank"},
    {"WrongUse.CallsAfterCloseGiveAnError", "an engine ends, and another one starts in the same process"},
    {"WrongUse.OptionsThatCannotBeAreRefusedByName", "no engine starts; each mode has options of its own to refuse"},
    {"WrongUse.AStoreThatIsAFileIsReportedAndTheApplicationGoesOn", "closing fails only with an embedded engine"},
    {"Limits", "an engine starts where threads, files and directories are refused"},
    // Suites that kill engines: an embedded engine takes its rank along; with perdured, ranks live on without it.
    {"CrashMatrix", "engines are killed"},
    {"Replace", "engines are killed"},
    {"RandomKills", "engines are killed; each mode has seeds and tiers of its own"},
    {"FieldMistakes", "engines are killed and shared"},
    {"Emulated.AnEngineThatDiesWhileItWritesIsReplacedOrTheJobIs", "engines are killed"},
    // Suites with one engine after another, or beside it.
    {"TwoLaunches", "perdured of one launch lives on beside the next one's engine"},
    {"TwoApplications", "two jobs have an engine each, or share perdured"},
    {"UnreachableStore.LeavesItsVersionsOnTheNodeForTheNextLaunchToFlush", "only an embedded engine's close fails"},
    // Suites about processes: forks, threads, descriptors, memory.
    {"WrongUse.AForkedChildCannotUseTheHandleAndDoesNotDisturbTheParent", "an embedded engine's threads stay behind"},
    {"FlushThreads", "threads of an engine are counted in its process"},
    {"ThreadFaults", "threads, memory and descriptors run out in one process or in two; each mode tries other places"},
    {"StrangersAtThePorts", "descriptors of an engine are counted in its process"},
    {"Leaks", "leaks of the application's process, or of perdured"},
    {"Replacements", "leaks of the application's process, or of perdured"},
    // Suites whose two cases differ in more than the mode.
    {"FourNodes", "embedded engines replicate while they capture, daemons do not"},
    {"ParityServerLoss", "two ranks a node with embedded engines, one with daemons"},
    {"SmallTiers", "each mode has tiers of its own"},
};

struct NameWithMode {
  std::string_view before;  // "Modes/Suite.Case/"
  std::string_view mode;
  std::string_view after;  // the rest of the parameter's name

  std::string_view suite_and_case() const {
    const auto test = before.substr(0, before.size() - 1);
    return test.substr(test.rfind('/') + 1);  // npos + 1: the whole name
  }
  std::string_view other_mode() const { return mode == kEmbedded ? kDaemon : kEmbedded; }
};

std::optional<NameWithMode> parsed(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view parameter = name.substr(slash + 1);
  for (const std::string_view mode : {kEmbedded, kDaemon}) {
    if (!parameter.starts_with(mode)) continue;
    const std::string_view after = parameter.substr(mode.size());
    if (after.empty() || after.front() == '_') return NameWithMode{name.substr(0, slash + 1), mode, after};
  }
  return std::nullopt;
}

std::string_view drawn_mode(const NameWithMode& name) {
  std::string_view after = name.after;
  const bool on_write = after.starts_with(kOnWrite);
  if (on_write) after.remove_prefix(kOnWrite.size());
  const std::string drawn_by = std::string(name.suite_and_case()) + std::string(after);
  const bool even = base::hash64(base::as_bytes(drawn_by)) % 2 == 0;  // the same with every compiler
  return even == on_write ? kEmbedded : kDaemon;
}

bool runs_in_both(std::string_view suite_and_case) {
  const std::string_view suite = suite_and_case.substr(0, suite_and_case.find('.'));
  return std::ranges::any_of(kBoth, [&](const auto& one) { return one.tests == suite || one.tests == suite_and_case; });
}

}  // namespace

std::span<const RunsInBothModes> those_in_both_modes() { return kBoth; }

std::string in_other_mode(std::string_view name) {
  const auto parts = parsed(name);
  if (!parts) return "";
  return std::string(parts->before) + std::string(parts->other_mode()) + std::string(parts->after);
}

std::vector<std::string> cases_left_out(const std::vector<std::string>& names, bool embedded_only) {
  const std::set<std::string> all(names.begin(), names.end());
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const auto parts = parsed(name);
    if (!parts || runs_in_both(parts->suite_and_case()) || !all.contains(in_other_mode(name))) continue;
    if (parts->mode != (embedded_only ? kEmbedded : drawn_mode(*parts))) out.push_back(name);
  }
  return out;
}

std::vector<std::string> all_cases_of_this_program() {
  std::vector<std::string> names;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j)
      names.push_back(std::string(suite.name()) + "." + suite.GetTestInfo(j)->name());
  }
  return names;
}

void list_drawn_cases_only() {
  if (!GTEST_FLAG_GET(list_tests) || std::getenv("PERDURE_TEST_CAMPAIGN") != nullptr) return;
  std::string filter = GTEST_FLAG_GET(filter);
  char separator = filter.find('-') == std::string::npos ? '-' : ':';  // names after the minus are excluded
  for (const std::string& name : cases_left_out(all_cases_of_this_program())) {
    filter += separator + name;
    separator = ':';
  }
  GTEST_FLAG_SET(filter, filter);
}

}  // namespace perdure::test_support
