// The real program `perdure run --check-protection` runs a program that makes one mistake or none (tests/protection).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.hpp"
#include "cli/launched_testing.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Counts processes with `text` in their command lines, without the launcher of the check.
int engines_of(const std::string& text) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string command = text_of(entry.path() / "cmdline");
    if (command.starts_with(PERDURED_PROGRAM) && command.find(text) != std::string::npos) ++found;
  }
  return found;
}

class CheckProtection : public testing::Test {
 protected:
  /// Passes options before --; the program follows it.
  Launched run(const std::vector<std::string>& options, const std::vector<std::string>& program,
               const std::string& input = "") const {
    std::vector<std::string> all = {"--check-protection",
                                    "--json",
                                    json_path(),
                                    "--set",
                                    "node.path=" + (memory_ / "node"),
                                    "--set",
                                    "tier.file.path=" + (directory_ / "file"),
                                    "--set",
                                    "tier.memory.max_bytes=16MiB"};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back("--");
    all.insert(all.end(), program.begin(), program.end());
    return Launched(all, input);
  }
  Launched check(const std::string& mistake, const std::vector<std::string>& options = {}) const {
    return run(options, {PERDURE_FORGETFUL, mistake});
  }
  base::Json json() const { return base::Json::parse(text_of(json_path()), nullptr, false); }
  std::string json_path() const { return directory_ / "report.json"; }
  /// The files made for the check are gone, and no file of the user was made.
  void expect_clean(const Launched& run) const {
    for (const auto& root : {std::filesystem::path(run.path("")), std::filesystem::path(memory_.path()),
                             std::filesystem::path(directory_.path())})
      for (const auto& entry : std::filesystem::directory_iterator(root))
        EXPECT_FALSE(entry.is_directory()) << entry.path();
  }
  test_support::TemporaryDirectory directory_, memory_{test_support::TemporaryDirectory::Place::memory};
};

TEST_F(CheckProtection, FindsNothingWhereEverythingIsProtected) {
  Launched checked = check("none");
  EXPECT_EQ(checked.wait(), kGood) << checked.err();
  EXPECT_EQ(checked.out(), "rank 0: from step 0\nrank 0: from step 10\n") << "two runs are enough";
  EXPECT_THAT(checked.err(), HasSubstr("same"));
  EXPECT_EQ(json()["finding"], "same");
  EXPECT_EQ(json()["compared"], base::Json({"forgetful@20", "forgetful@30", "forgetful@40"}));
  EXPECT_EQ(json()["equal"].size(), 4u);
  expect_clean(checked);
}

TEST_F(CheckProtection, NamesTheRegionThatDependsOnWhatWasForgotten) {
  Launched checked = check("forget");
  EXPECT_EQ(checked.wait(), kBad) << checked.err();
  EXPECT_THAT(checked.err(), HasSubstr("flowed into region 0 of forgetful between the restore of forgetful@10 and "
                                       "forgetful@20"));
  const base::Json differing = json()["differing"];
  ASSERT_EQ(differing.size(), 1u);
  EXPECT_EQ(differing[0]["region"], 0);
  EXPECT_EQ(differing[0]["first_element"], 17);
  EXPECT_EQ(differing[0]["different_elements"], 983);
  EXPECT_EQ(differing[0]["suspected"], true);
  EXPECT_EQ(json()["runs"].size(), 3u);
  expect_clean(checked);
}

TEST_F(CheckProtection, FindsAForgottenStepNumber) {
  Launched checked = check("forget-step");
  EXPECT_EQ(checked.wait(), kBad) << checked.err();
  EXPECT_EQ(json()["differing"].size(), 2u) << json();
}

TEST_F(CheckProtection, GoesOnFromTheVersionThatIsAskedFor) {
  Launched checked = check("forget", {"--restore-from", "30"});
  EXPECT_EQ(checked.wait(), kBad) << checked.err();
  EXPECT_EQ(json()["restored"], base::Json({"forgetful@30"}));
  EXPECT_EQ(json()["compared"], base::Json({"forgetful@40"}));
}

TEST_F(CheckProtection, TellsAProgramThatNeverDoesTheSameTwiceFromOneThatForgets) {
  Launched noisy = check("noise");
  EXPECT_EQ(noisy.wait(), kCannot) << noisy.err();
  EXPECT_THAT(noisy.err(), HasSubstr("(region 4 of forgetful): the program does not repeat itself"));
  EXPECT_EQ(json()["differing"][0]["suspected"], false);
  Launched both = check("forget-and-noise");
  EXPECT_EQ(both.wait(), kBad) << both.err();
  EXPECT_THAT(both.err(), HasSubstr("flowed into region 0 of forgetful between"));
  EXPECT_THAT(both.err(), HasSubstr("nothing is known of region 4 of forgetful"));
}

TEST_F(CheckProtection, CannotTellWithoutTwoVersions) {
  for (const char* mistake : {"never", "once"}) {
    Launched checked = check(mistake);
    EXPECT_EQ(checked.wait(), kCannot) << mistake;
    EXPECT_THAT(checked.err(), HasSubstr("let it run longer")) << mistake;
    EXPECT_EQ(json()["finding"], "unknown");
    EXPECT_EQ(json()["error"]["code"], "not-found");
    expect_clean(checked);
  }
}

TEST_F(CheckProtection, CannotTellWhereTheProgramDoesNotRestore) {
  Launched checked = check("ignore");
  EXPECT_EQ(checked.wait(), kCannot) << checked.err();
  EXPECT_THAT(checked.err(), HasSubstr("restored nothing, though forgetful@10 was there"));
}

TEST_F(CheckProtection, CountsACrashAfterTheRestoreAsADifference) {
  Launched checked = check("crash");
  EXPECT_EQ(checked.wait(), kBad) << checked.err();
  EXPECT_THAT(checked.err(), HasSubstr("killed by signal 6"));
  expect_clean(checked);
}

TEST_F(CheckProtection, WorksWithEnginesThatAreProcessesOfTheirOwn) {
  Launched good = check("none", {"--engine", "daemon", "--set", "engine.daemon_path=" PERDURED_PROGRAM});
  EXPECT_EQ(good.wait(), kGood) << good.err();
  expect_clean(good);
  Launched bad = check("forget", {"--engine", "daemon", "--set", "engine.daemon_path=" PERDURED_PROGRAM});
  EXPECT_EQ(bad.wait(), kBad) << bad.err();
  expect_clean(bad);
}

TEST_F(CheckProtection, GivesEveryRunTheSameInput) {
  Launched checked = run({}, {"sh", "-c", "cat; exec " PERDURE_FORGETFUL " forget"}, "input\n");
  EXPECT_EQ(checked.wait(), kBad) << checked.err();
  const std::string out = checked.out();
  std::size_t inputs = 0;
  for (std::size_t at = out.find("input"); at != std::string::npos; at = out.find("input", at + 1)) ++inputs;
  EXPECT_EQ(inputs, 3u) << out;
}

TEST_F(CheckProtection, EndsAndCleansUpWhenItIsAskedToStop) {
  Launched checked = run({}, {"sh", "-c", "echo ready; exec sleep 60"});
  checked.first_line();
  checked.signal(SIGTERM);
  EXPECT_EQ(checked.wait(), kCannot);
  EXPECT_THAT(checked.err(), HasSubstr("stopped on request"));
  expect_clean(checked);
}

TEST_F(CheckProtection, LeavesNothingBehindWhenItIsKilled) {
  Launched checked = run({}, {"sh", "-c", "echo $PERDURE_STORE_PATH; exec sleep 60"});
  const std::string store = std::filesystem::path(checked.first_line()).parent_path();
  EXPECT_TRUE(std::filesystem::exists(store)) << store;
  checked.signal(SIGKILL);
  checked.wait();
  EXPECT_TRUE(eventually("the check's store is removed", [&] { return !std::filesystem::exists(store); }));
}

// perdured lives on for a while after its program; not after the check.
TEST_F(CheckProtection, LeavesNoEngineBehindWhenItIsStopped) {
  Launched checked = check("hang", {"--engine", "daemon", "--set", "engine.daemon_path=" PERDURED_PROGRAM});
  checked.first_line();
  const std::string directories = memory_ / "node-check-";
  EXPECT_EQ(engines_of(directories), 1);
  checked.signal(SIGTERM);
  EXPECT_EQ(checked.wait(), kCannot);
  EXPECT_TRUE(eventually("the check's engine has ended", [&] { return engines_of(directories) == 0; }));
  expect_clean(checked);
}

TEST_F(CheckProtection, IsWronglyUsedWithARequestThatNamesNoVersionOrWithoutTheCheck) {
  EXPECT_EQ(run_verb({"run", "--restore-from", "3", "--", "true"}).status, kUsage);
  Launched checked = check("none", {"--restore-from", "forgetful"});
  EXPECT_EQ(checked.wait(), kUsage);
  EXPECT_EQ(checked.out(), "") << "before anything is run";
  EXPECT_EQ(json()["error"]["code"], "invalid-argument");
}

TEST_F(CheckProtection, SaysThatThereIsNoSuchProgram) {
  Launched checked = run({}, {"/nonexistent/program"});
  EXPECT_EQ(checked.wait(), kCannot);
  EXPECT_THAT(checked.err(), HasSubstr("/nonexistent/program"));
  expect_clean(checked);
}

#ifdef PERDURE_FORGETFUL_MPI
TEST_F(CheckProtection, NamesTheRankOfAnMpiProgramThatForgets) {
  const std::vector<std::string> launcher = {PERDURE_TEST_LAUNCHER, "-n", "2", "--oversubscribe",
                                             PERDURE_FORGETFUL_MPI};
  // Launchers that begin at once hinder each other in Open MPI's own directory.
  const test_support::TemporaryDirectory sessions;
  const Variable root("OMPI_ALLOW_RUN_AS_ROOT", "1"), confirmed("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
      base("OMPI_MCA_orte_tmpdir_base", sessions.path());
  auto command = launcher;
  command.emplace_back("none");
  Launched good = run({}, command);
  EXPECT_EQ(good.wait(), kGood) << good.err();
  command.back() = "forget";
  Launched bad = run({"--set", "node.ranks_per_node=1"}, command);
  EXPECT_EQ(bad.wait(), kBad) << bad.err();
  ASSERT_EQ(json()["differing"].size(), 1u);
  EXPECT_EQ(json()["differing"][0]["region"], 0);
  EXPECT_EQ(json()["differing"][0]["first_rank"], 1);
  EXPECT_EQ(json()["differing"][0]["ranks"], 1);
  expect_clean(bad);
}
#endif

}  // namespace
}  // namespace perdure::cli
