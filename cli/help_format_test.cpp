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

TEST(Help, OfAVerbSaysItsOwnExitStatusesOnly) {
  EXPECT_THAT(run_verb({"ls", "--help"}).out, Not(HasSubstr("perdure run")));
  EXPECT_THAT(run_verb({"--help"}).out, HasSubstr("Exit status: 0 good"));
}

}  // namespace
}  // namespace perdure::cli
