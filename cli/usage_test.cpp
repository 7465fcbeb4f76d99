// A user who mistypes gets these answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/launched_testing.hpp"
#include "cli/libraries.hpp"
#include "cli/overview.hpp"
#include "inspect/words.hpp"

namespace perdure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Usage, AloneItPrintsAnOverviewOfEveryVerb) {
  const Ran ran = run_verb({});
  EXPECT_EQ(ran.status, kUsage) << "a script that lost its verb must notice";
  EXPECT_EQ(ran.out, overview());
  EXPECT_EQ(ran.err, "");
  for (const Verb& verb : verbs()) {
    EXPECT_THAT(ran.out, HasSubstr(std::string("\n  ") + verb.name + " ")) << verb.name;
    EXPECT_THAT(ran.out, HasSubstr(verb.summary)) << verb.name;
  }
  EXPECT_THAT(ran.out, HasSubstr("docs/command-line.md"));
}

std::vector<std::string> examples() {
  std::istringstream lines(overview());
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  perdure ")) found.push_back(line);
  return found;
}

TEST(Usage, TheExamplesOfTheOverviewWorkAsPrinted) {
  test_support::TemporaryDirectory directory;
  const std::string program = PERDURE_PROGRAM, bin = program.substr(0, program.rfind('/'));
  const Variable path("PATH", bin + ":" + std::getenv("PATH"));
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const auto found = examples();
  ASSERT_EQ(found.size(), 3u);
  for (const std::string& example : found) {
    const std::string command = "cd " + directory.path() + " && ( " + example + "\n) >out 2>err </dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << example << "\n"
                                               << text_of(directory / "err") << text_of(directory / "out");
    EXPECT_NE(text_of(directory / "out"), "") << example;
  }
}

/// Gives the error of a wrong command line.
std::string refusal(const std::vector<std::string>& arguments) {
  const Ran ran = run_verb(arguments);
  EXPECT_EQ(ran.status, kUsage) << ran.err;
  EXPECT_EQ(ran.out, "");
  return ran.err;
}

TEST(Usage, AMisspeltVerbNamesTheNearest) {
  EXPECT_EQ(
      refusal({"lss"}).find("perdure: perdure lss: there is no such verb (invalid-argument); did you mean perdure ls?"),
      0u);
  EXPECT_THAT(refusal({"verfiy", "store"}), HasSubstr("did you mean perdure verify?"));
  EXPECT_THAT(refusal({"quite-something-else"}),
              AllOf(Not(HasSubstr("did you mean")), HasSubstr("the verbs are run, ls")));
  EXPECT_THAT(refusal({"--vrsion"}), HasSubstr("did you mean perdure --version?"));
  EXPECT_THAT(refusal({"--store", "x", "ls"}), HasSubstr("options of a verb stand behind it: perdure VERB --store"));
  EXPECT_THAT(refusal({"--jsn"}), HasSubstr("perdure VERB --json"));
}

TEST(Usage, AMisspeltOptionNamesTheNearestOfItsVerb) {
  for (const Verb& verb : verbs())
    EXPECT_THAT(refusal({verb.name, "--jsn"}), HasSubstr(std::string("perdure ") + verb.name +
                                                         " --jsn: there is no such option (invalid-argument); did you "
                                                         "mean --json?"))
        << verb.name;
  EXPECT_THAT(refusal({"prune", "--keep-lst=3"}), HasSubstr("did you mean --keep-last?"));
  EXPECT_THAT(refusal({"run", "--restart", "3", "--", "true"}), HasSubstr("did you mean --restarts?"));
  EXPECT_THAT(refusal({"ls", "--entirely-unknown"}),
              AllOf(Not(HasSubstr("did you mean")), HasSubstr("perdure ls --help")));
}

TEST(Usage, ArgumentsAreListedInTheOrderTyped) {
  EXPECT_THAT(refusal({"ls", "one", "two", "three four"}),
              HasSubstr("perdure ls two 'three four': these arguments are too many"));
  EXPECT_THAT(refusal({"run", "extra", "--", "true"}), HasSubstr("perdure run extra: this argument is too many"));
}

TEST(Usage, AProgramWithoutDashesIsToldTheRightCommand) {
  EXPECT_THAT(refusal({"run", "mpirun", "-n", "1", "true"}),
              AllOf(HasSubstr("perdure run mpirun -n 1 true: the program to run stands behind --, which is missing"),
                    HasSubstr("type: perdure run -- mpirun -n 1 true\n")));
  EXPECT_THAT(refusal({"run", "--restarts", "5", "sh", "-c", "exit 3; echo it's"}),
              HasSubstr("type: perdure run --restarts 5 -- sh -c 'exit 3; echo it'\\''s'\n"));
  EXPECT_THAT(refusal({"run", "--store", "true", "true"}), HasSubstr("type: perdure run --store true -- true\n"));
  EXPECT_THAT(refusal({"run", "mpirun", "--hostfile", "f", "./a"}),
              HasSubstr("type: perdure run -- mpirun --hostfile f ./a\n"));
  EXPECT_THAT(refusal({"run"}), HasSubstr("perdure run [OPTIONS] -- PROGRAM [ARGUMENTS]"));
  EXPECT_THAT(refusal({"run", "--"}), HasSubstr("perdure run [OPTIONS] -- PROGRAM [ARGUMENTS]"));
}

TEST(Usage, AValueThatIsRefusedIsNamedWithItsOption) {
  EXPECT_THAT(
      refusal({"prune", "--keep-last", "0"}),
      HasSubstr("perdure prune --keep-last: '0' is too few; it is a whole number from 1 on (invalid-argument)"));
  EXPECT_THAT(refusal({"verify", "--threads", "many"}),
              HasSubstr("perdure verify --threads: 'many' is not a whole number"));
  EXPECT_THAT(refusal({"show"}), HasSubstr("perdure show: NAME[@VERSION] is required"));
  EXPECT_THAT(refusal({"top", "--interval", "0"}),
              HasSubstr("perdure top --interval: '0' is not a number from 0.05 to 86400"));
  EXPECT_THAT(refusal({"verify", "--threads", "5000"}), HasSubstr("'5000' is not a number from 1 to 1024"));
  EXPECT_THAT(refusal({"simulate", "--writers", "x"}), HasSubstr("perdure simulate --writers: 'x' is not a value"));
  EXPECT_THAT(refusal({"run", "--json"}), HasSubstr("perdure run --json: it needs a value"));
  for (const std::string& line : {refusal({"prune", "--keep-last", "0"}), refusal({"top", "--interval", "0"})})
    EXPECT_LT(line.size(), 200u) << line;
}

TEST(Words, AreQuotedForTheShellAndEnumeratedForPeople) {
  EXPECT_EQ(shell_text({"a", "", "b c", "$x", "--set=k=1"}), "a '' 'b c' '$x' --set=k=1");
  EXPECT_EQ(enumerated({}), "");
  EXPECT_EQ(enumerated({"a"}), "a");
  EXPECT_EQ(enumerated({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(enumerated({"a", "b", "c", "d"}, 2), "a, b and 2 more");
  EXPECT_EQ(meant("lulsh", {"nbody", "lulesh"}), "lulesh");
  EXPECT_EQ(meant("x", {"nbody", "lulesh"}), "");
  EXPECT_EQ(meant("x", {}), "");
}

}  // namespace
}  // namespace perdure::cli
