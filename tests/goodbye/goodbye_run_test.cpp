// Tests `perdure run` and the tools when a program ends and leaves data on its node.
#include <gmock/gmock.h>

#include "base/json.hpp"
#include "run_testing.hpp"

namespace perdure::test_support {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(RunOfAProgram, FlushesWhatAProgramLeftThatEndedAtOnce) {
  EXPECT_EQ(left_.run(run(), "quick"), 0) << left_.said();
  EXPECT_THAT(left_.said(), AllOf(HasSubstr("newest complete: run@3"), Not(HasSubstr("not stored"))));
  EXPECT_TRUE(left_.nothing_on_the_node());
  EXPECT_EQ(left_.stored(), kAll) << left_.said();
}

// The program has no handler; the signal kills it and its engine.
TEST_F(RunOfAProgram, ThatIsToEndFlushesWhatItLeft) {
  left_.start(run(), "waits");
  is_ready();
  left_.signal(SIGTERM);
  EXPECT_EQ(left_.end(), 128 + SIGTERM) << left_.said();
  EXPECT_EQ(left_.stored(), kAll) << left_.said();
}

TEST_F(RunOfAProgram, ThatIsToEndWaitsForItsLastCheckpoint) {
  left_.start(run(), "due");
  is_ready();
  left_.signal(SIGUSR1);
  EXPECT_TRUE(
      eventually("it has checkpointed and goes on", [&] { return left_.said().find("goes on") != std::string::npos; }));
  left_.signal(SIGTERM);
  EXPECT_EQ(left_.end(), 0) << left_.said();
  EXPECT_THAT(left_.said(), HasSubstr("ends\n"));
  const auto stored = left_.stored();
  EXPECT_TRUE(stored.contains(4) && stored.contains(5)) << left_.said();
}

TEST_F(RunOfAProgram, ThatDoesNotEndWithinItsGraceIsKilledAndFlushed) {
  left_.start(run("--set run.grace=0.2"), "stubborn");
  is_ready();
  left_.signal(SIGTERM);
  EXPECT_EQ(left_.end(), 128 + SIGKILL) << left_.said();
  EXPECT_THAT(left_.said(), HasSubstr("it had not ended within run.grace"));
  EXPECT_EQ(left_.stored(), kAll) << left_.said();
}

TEST_F(RunOfAProgram, EndsWith75WhereTheStoreLacksWhatWasAcknowledged) {
  const std::string full = "PERDURE_TEST_FAULTS=pwrite:/store/run/:ENOSPC ";
  const std::string json = left_ / "json";
  EXPECT_EQ(left_.run(full + run("--set engine.drain_timeout=1 --json " + json), "quick"), 75) << left_.said();
  EXPECT_THAT(left_.said(), AllOf(HasSubstr("not stored: 3 checkpoints (run versions 1 to 3, "),
                                  HasSubstr("No space left on device"), HasSubstr("started again on this machine")));
  base::Json summary = base::Json::parse(std::ifstream(json), nullptr, false);
  EXPECT_EQ(summary["status"], 75);
  EXPECT_EQ(summary["not_stored"][0]["versions"], 3);
  const std::string listed = answer(perdure("ls"));
  EXPECT_THAT(listed, AllOf(HasSubstr("on this node, not stored"), HasSubstr("started here again"))) << listed;
  const auto found = base::Json::parse(answer(perdure("ls", "--json")), nullptr, false);
  EXPECT_EQ(found["on_node"].size(), 3U) << found.dump();
  EXPECT_EQ(found["on_node"][0]["version"], 1);
  EXPECT_FALSE(left_.nothing_on_the_node());
}

// The store works again, so the next launch stores the versions that are on the node, and says so.
TEST_F(RunOfAProgram, SaysAtTheNextOpenWhatIsOnlyOnTheNode) {
  const std::string full = "PERDURE_TEST_FAULTS=pwrite:/store/run/:ENOSPC ";
  EXPECT_EQ(left_.run(full + run("--set engine.drain_timeout=0.1"), "quick"), 75) << left_.said();
  EXPECT_EQ(left_.run(run(), "opens"), 0) << left_.said();
  EXPECT_THAT(left_.said(), HasSubstr("has 3 checkpoints that the store has not yet (run versions 1 to 3)"));
  EXPECT_EQ(left_.stored(), kAll);
}

TEST_F(RunOfAProgram, HaltsWhereThatIsAskedFor) {
  left_.start(run(), "halt");
  is_ready();
  EXPECT_THAT(answer(perdure("halt", "run --now")), HasSubstr("are asked to checkpoint and end"));
  EXPECT_EQ(left_.end(), 0) << left_.said();
  EXPECT_THAT(left_.said(), HasSubstr("halts\n"));
  EXPECT_TRUE(left_.stored().contains(4)) << left_.said();
}

// Daemons outlive the program, and `perdure run` waits for them.
TEST_F(RunOfAProgram, ThatHasDaemonsIsToEndAndWaitsUntilTheyHaveStoredAll) {
  left_.start(run(), "daemon_waits");
  is_ready();
  left_.signal(SIGTERM);
  EXPECT_EQ(left_.end(), 128 + SIGTERM) << left_.said();
  EXPECT_THAT(left_.said(), AllOf(HasSubstr("newest complete: run@3"), Not(HasSubstr("not stored"))));
  EXPECT_EQ(left_.stored(), kAll) << left_.said();
}

TEST_F(RunOfAProgram, ThatHasDaemonsIsToEndAndWaitsForItsLastCheckpoint) {
  left_.start(run(), "daemon_due");
  is_ready();
  left_.signal(SIGTERM);
  EXPECT_EQ(left_.end(), 0) << left_.said();
  EXPECT_THAT(left_.said(), HasSubstr("ends\n"));
  EXPECT_TRUE(left_.stored().contains(4)) << left_.said();
}

TEST_F(RunOfAProgram, ThatHasDaemonsDoesNotEndWithinItsGraceAndIsKilled) {
  left_.start(run("--set run.grace=0.2"), "daemon_stubborn");
  is_ready();
  left_.signal(SIGTERM);
  EXPECT_EQ(left_.end(), 128 + SIGKILL) << left_.said();
  EXPECT_EQ(left_.stored(), kAll) << left_.said();
}

TEST_F(RunOfAProgram, ThatHasDaemonsEndsWith75WhereTheStoreLacksWhatWasAcknowledged) {
  const std::string full = "PERDURE_TEST_FAULTS=pwrite:/store/run/:ENOSPC ";
  EXPECT_EQ(left_.run(full + run("--set engine.drain_timeout=1 --set flush.give_up_after=0.1"), "daemon_quick"), 75)
      << left_.said();
  EXPECT_THAT(left_.said(), AllOf(HasSubstr("not stored: 3 checkpoints (run versions 1 to 3, "),
                                  HasSubstr("No space left on device")));
  EXPECT_TRUE(eventually("the daemon gives up, and ends", [&] { return left_.no_engine_lives(); }));
}

}  // namespace
}  // namespace perdure::test_support
