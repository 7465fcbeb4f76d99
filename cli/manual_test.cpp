// Every verb has a manual page, and bash completes its words.
#include "cli/manual.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "cli/verb_testing.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(pipe == nullptr ? 0 : ::pclose(pipe), 0) << command << "\n" << text;
  return text;
}

TEST(Manual, HasAPageForEachVerbWithAllOfItsOptions) {
  EXPECT_THAT(run_verb({"help", "--man"}).out, AllOf(HasSubstr(".TH PERDURE 1"), HasSubstr("perdure\\-ls")));
  for (const Verb& verb : verbs()) {
    const Ran ran = run_verb({"help", "--man", verb.name});
    EXPECT_EQ(ran.status, kGood) << verb.name;
    EXPECT_THAT(ran.out, AllOf(HasSubstr(".SH OPTIONS"), HasSubstr("\\-\\-json"), HasSubstr("\\-\\-set"))) << verb.name;
  }
  EXPECT_EQ(run_verb({"help", "--man", "nothing"}).status, kUsage);
}

TEST(Completion, CompletesVerbsOptionsAndChoices) {
  const test_support::TemporaryDirectory directory;
  std::ofstream(directory / "completion") << run_verb({"help", "--completion"}).out;
  const auto completed = [&](const std::string& words, int at) {
    return output_of("bash -c 'source " + (directory / "completion") + "; COMP_WORDS=(" + words +
                     "); COMP_CWORD=" + std::to_string(at) + "; _perdure; echo \"${COMPREPLY[*]}\"'");
  };
  EXPECT_EQ(completed("perdure ver", 1), "version verify\n");
  EXPECT_EQ(completed("perdure help do", 2), "doctor\n");
  EXPECT_EQ(completed("perdure prune --keep-l", 2), "--keep-last\n");
  EXPECT_EQ(completed("perdure run --engine em", 3), "embedded\n");
  EXPECT_THAT(completed("perdure ls /et", 2), HasSubstr("/etc"));
  EXPECT_EQ(completed("perdure run -- --st", 3), "\n") << "that is the program's";
}

}  // namespace
}  // namespace perdure::cli
