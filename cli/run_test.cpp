// The real program `perdure run` runs with real children.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "cli/launched_testing.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Run, PassesInputAndOutputThroughUntouchedAndEndsWithTheProgramsStatus) {
  Launched run({"--restarts", "0", "--", "sh", "-c", "cat; echo to-stderr >&2; exit 7"}, "some input");
  EXPECT_EQ(run.wait(), 7);
  EXPECT_EQ(run.out(), "some input");
  EXPECT_THAT(run.err(), HasSubstr("to-stderr\n"));
  EXPECT_THAT(run.err(), HasSubstr("1 launches, 1 failures, status 7"));
}

TEST(Run, LaunchesAgainAfterASignalAndEndsWellWhenTheProgramDoes) {
  test_support::TemporaryDirectory directory;
  const std::string script = "echo $PERDURE_LAUNCH; if [ -e " + (directory / "was") + " ]; then exit 0; fi; touch " +
                             (directory / "was") + "; kill -9 $$";
  Launched run({"--json", directory / "summary", "--", "sh", "-c", script});
  EXPECT_EQ(run.wait(), 0);
  EXPECT_THAT(run.err(), HasSubstr("killed by signal 9"));
  const std::string out = run.out(), launch = out.substr(0, out.find('\n'));
  EXPECT_EQ(out, launch + "\n" + launch + "\n") << "restarts are one launch";
  EXPECT_GT(launch.size(), 10u);
  const auto json = base::Json::parse(text_of(directory / "summary"), nullptr, false);
  EXPECT_EQ(json["launches"], 2);
  EXPECT_EQ(json["failures"].size(), 1u);
  EXPECT_EQ(json["status"], 0);
}

TEST(Run, WritesItsSummaryToStandardOutputForADash) {
  test_support::TemporaryDirectory directory;
  Launched run({"--json", "-", "--", "true"});
  EXPECT_EQ(run.wait(), 0);
  const auto json = base::Json::parse(run.out(), nullptr, false);
  EXPECT_EQ(json["launches"], 1) << run.out();
}

TEST(Run, GivesUpWhenItIsOutOfRestarts) {
  Launched run({"--restarts", "2", "--", "sh", "-c", "echo again; kill -SEGV $$"});
  EXPECT_EQ(run.wait(), 128 + SIGSEGV);
  EXPECT_EQ(run.out(), "again\nagain\nagain\n");
}

TEST(Run, EndsAtOnceWhenThereIsNoSuchProgram) {
  Launched missing({"--", "/nonexistent/program"});
  EXPECT_EQ(missing.wait(), 127);
  EXPECT_THAT(missing.err(), HasSubstr("1 launches"));
  Launched unusable({"--", "/etc/passwd"});
  EXPECT_EQ(unusable.wait(), 126);
}

TEST(Run, HandsSettingsOnAsVariables) {
  Launched run(
      {"--set", "flush.threads=3", "--set", "job=mine", "--engine", "daemon", "--", "sh", "-c",
       "echo $PERDURE_FLUSH_THREADS $PERDURE_JOB $PERDURE_ENGINE_MODE $PERDURE_STORE_PATH $PERDURE_CHUNK_BYTES"});
  EXPECT_EQ(run.wait(), 0);
  EXPECT_EQ(run.out(), "3 mine daemon " + run.path("store") + "\n");
}

TEST(Run, MakesProgramsSayWhatTheyWaitForUnlessTheyShallNot) {
  const std::vector<std::string> program{"--", "sh", "-c", "echo $PERDURE_MESSAGES"};
  std::vector<std::string> silent{"--set", "messages=none"};
  silent.insert(silent.end(), program.begin(), program.end());
  Launched told(program), not_told(silent);
  EXPECT_EQ(told.wait(), 0);
  EXPECT_EQ(told.out(), "stderr\n");
  EXPECT_EQ(not_told.wait(), 0);
  EXPECT_EQ(not_told.out(), "none\n");
}

// A submitted script that is submitted again is the same job, and finds the versions that it left on the nodes. Two of
// them at once are two launches.
TEST(Run, IsTheSameJobTheNextTimeAndAnotherLaunch) {
  std::string launches[2];
  for (std::string& launch : launches) {
    Launched run({"--", "sh", "-c", "echo \"$PERDURE_JOB|$PERDURE_LAUNCH\""});
    EXPECT_EQ(run.wait(), 0);
    launch = run.out();
    EXPECT_EQ(launch.find('|'), 0U) << "no job name of its own: " << launch;
  }
  EXPECT_NE(launches[0], launches[1]);
}

TEST(Run, LeavesAJobNameOfTheEnvironmentAlone) {
  const Variable job("PERDURE_JOB", "theirs");
  Launched run({"--", "sh", "-c", "echo $PERDURE_JOB"});
  EXPECT_EQ(run.wait(), 0);
  EXPECT_EQ(run.out(), "theirs\n");
}

TEST(Run, PassesAStopOnToTheWholeProgramAndDoesNotLaunchAgain) {
  // Uses a subshell: when dash starts a program itself, a SIGINT at that moment reaches neither of the two.
  for (int signal : {SIGTERM, SIGINT}) {
    Launched run({"--", "sh", "-c", "(echo ready; exec sleep 60); echo never"});
    run.first_line();
    run.signal(signal);
    EXPECT_EQ(run.wait(), 128 + signal);
    EXPECT_THAT(run.err(), HasSubstr("stopped on request: 1 launches"));
  }
}

TEST(Run, PassesUserSignalsOnAndGoesOn) {
  Launched run({"--", "sh", "-c", "trap 'echo got; exit 0' USR1; echo ready; while :; do sleep 0.01; done"});
  run.first_line();
  run.signal(SIGUSR1);
  EXPECT_EQ(run.wait(), 0);
  EXPECT_THAT(run.out(), HasSubstr("got"));
}

TEST(Run, DoesNotLeaveTheProgramBehindWhenItIsKilled) {
  Launched run({"--", "sh", "-c", "echo $$; exec sleep 60"});
  const int child = std::stoi(run.first_line());
  run.signal(SIGKILL);
  run.wait();
  EXPECT_TRUE(eventually("the program has ended", [&] { return !os::process_alive(child); }));
}

TEST(Run, EndsWhenItIsStoppedWhileItWaitsForARestart) {
  Launched run({"--backoff", "3000", "--", "sh", "-c", "echo ready; exit 1"});
  run.first_line();
  EXPECT_TRUE(eventually("it waits for a restart", [&] { return run.err().find("restart 1") != std::string::npos; }));
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), 128 + SIGTERM);
}

TEST(Run, NamesTheNewestCompleteCheckpoints) {
  SampleStore store;
  store.add("nbody", 4);
  store.add("nbody", 5, 2, {1});
  Launched run({"--set", "store.path=" + store.path(), "--store", store.path(), "--", "true"});
  EXPECT_EQ(run.wait(), 0);
  EXPECT_THAT(run.err(), HasSubstr("newest complete: nbody@4"));
}

TEST(Run, IsWronglyUsedWithoutAProgram) {
  EXPECT_EQ(run_verb({"run"}).status, kUsage);
  EXPECT_EQ(run_verb({"run", "--"}).status, kUsage);
  EXPECT_EQ(run_verb({"run", "true"}).status, kUsage);
  EXPECT_EQ(run_verb({"run", "--restarts", "-1", "--", "true"}).status, kUsage);
  EXPECT_EQ(run_verb({"run", "--set", "no.such=1", "--", "true"}).status, kUsage);
  EXPECT_EQ(run_verb({"run", "--backoff", "nan", "--", "true"}).status, kUsage);
}

}  // namespace
}  // namespace perdure::cli
