// Tests that each case instantiated for both modes runs in one of them, or in both, as its name draws or the list says.
#include "drawn_modes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace perdure::test_support;

/// Returns cases in both modes; `end` is the suffix of their names.
std::vector<std::string> cases_in_both(int count, const std::string& end = "") {
  std::vector<std::string> names;
  for (int number = 0; number < count; ++number)
    for (const char* mode : {"embedded", "daemon"})
      names.push_back("Modes/Sample.Case" + std::to_string(number) + "/" + mode + end);
  return names;
}

std::vector<std::string> drawn_out(const std::vector<std::string>& names) { return cases_left_out(names, false); }

std::size_t embedded_among(const std::vector<std::string>& names) {
  return static_cast<std::size_t>(
      std::ranges::count_if(names, [](const auto& name) { return name.find("/embedded") != std::string::npos; }));
}

/// Starts this program again with or without a campaign, and returns the cases that it lists.
std::set<std::string> listed(const std::string& campaign) {
  const std::string program = "/proc/" + std::to_string(::getpid()) + "/exe";
  const std::string command = "env -u PERDURE_TEST_CAMPAIGN " + campaign + " " + program + " --gtest_list_tests";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> told(::popen(command.c_str(), "r"), ::pclose);
  std::set<std::string> names;
  std::string suite;
  for (char line[4096]; std::fgets(line, sizeof line, told.get()) != nullptr;) {
    std::string text(line);
    text.resize(std::min(text.find('#'), text.size()));
    text.erase(text.find_last_not_of(" \n") + 1);
    if (text.starts_with("  "))
      names.insert(suite + text.substr(2));
    else
      suite = text;
  }
  return names;
}

TEST(DrawnModes, LeaveOutOneOfEachTwoCasesThatDifferInTheModeAlone) {
  const auto names = cases_in_both(400);
  const auto out = drawn_out(names);
  EXPECT_EQ(out.size(), 400U);
  for (const auto& name : out) EXPECT_EQ(std::ranges::count(out, in_other_mode(name)), 0) << name;
}

TEST(DrawnModes, AreAboutAsOftenTheOneAsTheOther) {
  const std::size_t embedded = embedded_among(drawn_out(cases_in_both(400)));
  EXPECT_GT(embedded, 160U);
  EXPECT_LT(embedded, 240U);
}

TEST(DrawnModes, AreTheSameWithEveryCompilerAndWhateverOtherCasesThereAre) {
  EXPECT_EQ(drawn_out(cases_in_both(4)),
            (std::vector<std::string>{"Modes/Sample.Case0/embedded", "Modes/Sample.Case1/daemon",
                                      "Modes/Sample.Case2/daemon", "Modes/Sample.Case3/daemon"}));
}

TEST(DrawnModes, OfACaseThatCopiesOnWriteAreTheOtherOnes) {
  const auto in_the_call = drawn_out(cases_in_both(20, "_Header"));
  const auto on_write = drawn_out(cases_in_both(20, "_on_write_Header"));
  ASSERT_EQ(in_the_call.size(), on_write.size());
  for (std::size_t i = 0; i < in_the_call.size(); ++i)
    EXPECT_NE(in_the_call[i].find("/embedded") == std::string::npos, on_write[i].find("/embedded") == std::string::npos)
        << on_write[i];
}

TEST(DrawnModes, LeaveAloneWhatHasOneModeOrNoneOrIsListed) {
  const std::vector<std::string> names = {"Modes/Sample.InOne/daemon",
                                          "Schemes/Sample.OfItsOwn/embedded_xor4",
                                          "Schemes/Sample.OfItsOwn/daemon_xor3",
                                          "Plain.daemon",
                                          "Points/Sample.Daemonic/embeddedness",
                                          "Points/Sample.Daemonic/daemonness",
                                          "Modes/Leaks.AThousandCheckpointsLeaveNothing/embedded",
                                          "Modes/Leaks.AThousandCheckpointsLeaveNothing/daemon",
                                          "Modes/WrongUse.CallsAfterCloseGiveAnError/embedded",
                                          "Modes/WrongUse.CallsAfterCloseGiveAnError/daemon"};
  EXPECT_EQ(drawn_out(names), std::vector<std::string>());
  EXPECT_EQ(drawn_out({"Modes/WrongUse.Others/embedded", "Modes/WrongUse.Others/daemon"}).size(), 1U);
}

TEST(DrawnModes, AreEmbeddedBesideASanitizer) {
  EXPECT_EQ(embedded_among(cases_left_out(cases_in_both(20), true)), 0U);
  EXPECT_EQ(cases_left_out(cases_in_both(20), true).size(), 20U);
}

TEST(DrawnModes, AreWhatThisProgramListsAndCampaignsHaveBoth) {
  const auto all = all_cases_of_this_program(), out = cases_left_out(all);
  EXPECT_GT(out.size(), 0U);
  std::set<std::string> drawn(all.begin(), all.end());
  EXPECT_TRUE(std::ranges::includes(listed("PERDURE_TEST_CAMPAIGN=1"), drawn)) << "it may have more, of other suites";
  for (const auto& name : out) drawn.erase(name);
  EXPECT_EQ(listed(""), drawn);
}

TEST(DrawnModes, WhatRunsInBothModesIsThere) {
  std::set<std::string> tests;
  for (const auto& name : all_cases_of_this_program()) {
    const auto test = name.substr(0, name.rfind('/')).substr(name.find('/') + 1);
    if (!in_other_mode(name).empty()) tests.insert({test, test.substr(0, test.find('.'))});
  }
  for (const auto& one : those_in_both_modes()) EXPECT_TRUE(tests.contains(std::string(one.tests))) << one.tests;
}

}  // namespace
