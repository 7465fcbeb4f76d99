// Tests that MPI_Finalize closes open handles on all ranks.
#include <gmock/gmock.h>

#include <ctime>

#include "perdure/perdure.h"
#include "run_testing.hpp"

namespace perdure::test_support {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kTwoRanks = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " PERDURE_TEST_MPIRUN
                              " -n 2 --oversubscribe " PERDURE_LEAVER_MPI;

class EndOfMpi : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, EndOfMpi, testing::Values("readme", "finalize", "one_closes", "before_its_end", "two"),
                         [](const auto& way) { return std::string(way.param); });

TEST_P(EndOfMpi, StoresWhatWasAcknowledgedAndEndsWell) {
  const Left left;
  EXPECT_EQ(left.run(kTwoRanks, GetParam()), 0) << left.said();
  EXPECT_THAT(left.said(), Not(HasSubstr("MPI_FINALIZE was invoked"))) << "MPI is not called any more";
  EXPECT_EQ(left.stored(), kAll) << left.said();
  if (std::string(GetParam()) != "two") return;
  for (const char* rank : {"/0", "/1"}) EXPECT_EQ(left.stored("own", rank), kAll);
}

TEST(EndOfMpiRanks, ThatCannotStoreAllIsSaidOnceAndToTheHandlesOwner) {
  const Left left;
  EXPECT_EQ(left.run(kTwoRanks, "full"), 0) << left.said();
  const std::string line = "perdure: MPI_Finalize: " + (left / "store") + ": 3 checkpoints (run";
  EXPECT_THAT(left.said(), HasSubstr(line));
  EXPECT_EQ(left.said().find(line), left.said().rfind(line)) << left.said();
}

TEST(RanksThatOpenAlone, AreRefusedUnlessThatIsMeant) {
  const Left left;
  EXPECT_EQ(left.run(kTwoRanks, "alone"), 0) << left.said();
}

/// Runs a program of two ranks under `perdure run`.
class RunOfRanks : public RunOfAProgram {
 protected:
  std::string run_ranks(const std::string& more = {}) const {
    return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " +
           run(more, PERDURE_TEST_MPIRUN " -n 2 --oversubscribe " PERDURE_LEAVER_MPI);
  }
  /// Sends the signal to one rank alone.
  void signal_rank(int rank, int number) const {
    pid_t process = 0;
    std::ifstream(left_ / ("process." + std::to_string(rank))) >> process;
    ASSERT_GT(process, 0);
    ASSERT_EQ(::kill(process, number), 0);
  }
  bool both_are_told(unsigned reasons, int version) const {
    const std::string told = " is told " + std::to_string(reasons) + " at " + std::to_string(version) + "\n";
    const std::string said = left_.said();
    return said.find("rank 0" + told) != std::string::npos && said.find("rank 1" + told) != std::string::npos;
  }
};

class RunOfRanksThatWait : public RunOfRanks, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Engines, RunOfRanksThatWait, testing::Values("waits", "daemon_waits"),
                         [](const auto& way) { return std::string(way.param); });
class RunOfRanksThatAsk : public RunOfRanks, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Languages, RunOfRanksThatAsk, testing::Values("c", "cpp"),
                         [](const auto& language) { return std::string(language.param); });

// mpirun then ends the ranks, and with them their embedded engines.
TEST_P(RunOfRanksThatWait, FlushesWhatTheyLeft) {
  left_.start(run_ranks(), GetParam());
  is_ready();
  left_.signal(SIGTERM);
  const int status = left_.end();
  EXPECT_NE(status, 0) << left_.said();
  EXPECT_THAT(left_.said(), AllOf(HasSubstr("status " + std::to_string(status) + ";"),
                                  HasSubstr("newest complete: run@3"), Not(HasSubstr("not stored"))));
  EXPECT_EQ(left_.stored(), kAll) << left_.said();
}

// mpirun decides how long ranks live after a SIGTERM. Versions that the ranks were told are safe must be stored.
TEST_P(RunOfRanksThatAsk, StoresTheirLastCheckpoint) {
  left_.start(run_ranks(), "due_" + std::string(GetParam()));
  is_ready();
  left_.signal(SIGTERM);
  const int status = left_.end();
  EXPECT_THAT(left_.said(), HasSubstr("status " + std::to_string(status) + ";"));
  const bool told = left_.said().find("is told") != std::string::npos;
  const auto stored = left_.stored();
  EXPECT_TRUE(!told || stored.contains(4)) << left_.said();
  EXPECT_TRUE(stored.contains(3)) << left_.said();
}

TEST_P(RunOfRanksThatAsk, ASignalOfOneIsHeardByAllAtTheSameVersion) {
  left_.start(run_ranks(), "due_" + std::string(GetParam()));
  is_ready();
  signal_rank(1, SIGUSR1);
  EXPECT_TRUE(eventually("both checkpoint", [&] { return both_are_told(PERDURE_DUE_SIGNAL, 4); })) << left_.said();
  signal_rank(0, SIGTERM);
  EXPECT_EQ(left_.end(), 0) << left_.said();
  EXPECT_TRUE(both_are_told(PERDURE_DUE_SIGNAL | PERDURE_DUE_END, 5)) << left_.said();
  const auto stored = left_.stored();
  EXPECT_TRUE(stored.contains(4) && stored.contains(5)) << left_.said();
}

TEST_P(RunOfRanksThatAsk, AHaltIsHeardByAllAtTheSameVersion) {
  left_.start(run_ranks(), "halt_" + std::string(GetParam()));
  is_ready();
  EXPECT_THAT(answer(perdure("halt", "run --now")), HasSubstr("are asked to checkpoint and end"));
  EXPECT_EQ(left_.end(), 0) << left_.said();
  EXPECT_TRUE(both_are_told(PERDURE_DUE_HALT | PERDURE_DUE_END, 4)) << left_.said();
  EXPECT_TRUE(left_.stored().contains(4)) << left_.said();
}

TEST_P(RunOfRanksThatAsk, AHaltAtADateIsHeardByAllThatRunThen) {
  left_.start(run_ranks(), "halt_" + std::string(GetParam()));
  is_ready();
  const std::time_t soon = std::time(nullptr) + 2;
  std::tm parts{};
  ::gmtime_r(&soon, &parts);
  char date[64] = "";
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
  EXPECT_THAT(answer(perdure("halt", std::string("run --after ") + date)),
              HasSubstr("are asked to checkpoint and end"));
  EXPECT_EQ(left_.end(), 0) << left_.said();
  EXPECT_GE(std::time(nullptr), soon) << "not before that";
  EXPECT_TRUE(both_are_told(PERDURE_DUE_HALT | PERDURE_DUE_END, 4)) << left_.said();
  EXPECT_TRUE(left_.stored().contains(4)) << left_.said();
}

// The ranks and mpirun end with status 0.
TEST_F(RunOfRanks, EndsWith75WhereTheStoreLacksWhatWasAcknowledged) {
  const std::string full = "PERDURE_TEST_FAULTS=pwrite:/store/run/:ENOSPC ";
  EXPECT_EQ(left_.run(full + run_ranks("--set engine.drain_timeout=0.5"), "full"), 75) << left_.said();
  EXPECT_THAT(left_.said(), HasSubstr("not stored: 3 checkpoints (run versions 1 to 3, "));
}

}  // namespace
}  // namespace perdure::test_support
