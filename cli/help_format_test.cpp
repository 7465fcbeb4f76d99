// --help fits a terminal and says what each value is.
#include "cli/help_format.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "cli/verb_testing.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Help, IsWrappedAtBlanks) {
  EXPECT_EQ(wrapped("", 10), "");
  EXPECT_EQ(wrapped("one", 3), "one");
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(wrapped("a much-too-long-word b", 6), "a\nmuch-too-long-word\nb");
}

TEST(Help, OfEachVerbFitsATerminalAndSaysWhatAValueIs) {
  for (const Verb& verb : verbs()) {
    const Ran ran = run_verb({verb.name, "--help"});
    EXPECT_EQ(ran.status, kGood) << verb.name;
    for (const char* word : {" TEXT", " UINT", " FLOAT", "Needs:", "Excludes:"})
      EXPECT_THAT(ran.out, Not(HasSubstr(word))) << verb.name;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << verb.name << ": " << line;
  }
}

TEST(Help, IsThereUnderTheNamesThatPeopleTry) {
  EXPECT_EQ(run_verb({"help"}).out, run_verb({}).out);
  EXPECT_EQ(run_verb({"help"}).status, kGood);
  EXPECT_EQ(run_verb({"help", "ls"}).out, run_verb({"ls", "--help"}).out);
  EXPECT_EQ(run_verb({"help", "run"}).out, run_verb({"run", "--help"}).out);
  EXPECT_EQ(run_verb({"help", "nothing"}).status, kUsage);
  for (const char* word : {"version", "-V"}) {
    EXPECT_EQ(run_verb({word}).status, kGood);
    EXPECT_EQ(run_verb({word}).out, run_verb({"--version"}).out);
  }
}

TEST(Help, NamesEachVerbUnderATopic) {
  const std::string text = run_verb({"help"}).out;
  EXPECT_THAT(text, Not(HasSubstr("\nMore\n"))) << "cli/overview.cpp has a chapter for each verb";
  for (const Verb& verb : verbs()) EXPECT_THAT(text, HasSubstr("\n  " + std::string(verb.name) + " ")) << verb.name;
  EXPECT_LT(text.find("\n  prune "), text.find("Capture a program"));
}

TEST(Help, OfAVerbWithManyOptionsHasTopics) {
  for (const Verb& verb : verbs()) {
    const std::string text = run_verb({verb.name, "--help"}).out;
    std::istringstream lines(text);
    std::size_t in_a_row = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  -")) ++in_a_row;
      if (line.empty()) in_a_row = 0;
      EXPECT_LE(in_a_row, 10U) << verb.name << ": cli/help_topics.cpp has no topic for some of\n" << text;
      if (in_a_row > 10) break;
    }
  }
  const std::string run = run_verb({"run", "--help"}).out;
  for (const char* topic : {"\nAfter a failure:\n", "\nNodes:\n", "\nStore and settings:\n"})
    EXPECT_THAT(run, HasSubstr(topic));
  EXPECT_LT(run.find("--restarts"), run.find("Nodes:"));
  EXPECT_THAT(run_verb({"forget", "--help"}).out, Not(HasSubstr("Store and settings")));
}

TEST(Help, OfAVerbSaysItsOwnExitStatusesOnly) {
  EXPECT_THAT(run_verb({"ls", "--help"}).out, Not(HasSubstr("perdure run")));
  EXPECT_THAT(run_verb({"--help"}).out, HasSubstr("Exit status: 0 good"));
}

}  // namespace
}  // namespace perdure::cli
