// MPI_Finalize closes what is open, on all ranks.
#include <gmock/gmock.h>

#include "left_testing.hpp"

namespace perdure::test_support {
namespace {

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

}  // namespace
}  // namespace perdure::test_support
