// Checks which environments make a process one of several ranks.
#include "comm/launched.hpp"

#include <gtest/gtest.h>

#include <map>

namespace perdure::comm {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<Launched> found(const Variables& variables) {
  return one_of_several([&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

std::string text_of(const Variables& variables) {
  const auto launched = found(variables);
  return launched ? launched->text() : "alone";
}

TEST(Launched, EachLauncherSaysHowManyRanksThereAre) {
  EXPECT_EQ(text_of({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "1"}}),
            "rank 1 of 4 (OMPI_COMM_WORLD_SIZE=4)");
  EXPECT_EQ(text_of({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}}), "rank 0 of 2 (PMI_SIZE=2)");
  EXPECT_EQ(text_of({{"MV2_COMM_WORLD_SIZE", "3"}}), "a rank of 3 (MV2_COMM_WORLD_SIZE=3)");
  EXPECT_EQ(text_of({{"JSM_NAMESPACE_SIZE", "9"}, {"JSM_NAMESPACE_RANK", "8"}}), "rank 8 of 9 (JSM_NAMESPACE_SIZE=9)");
  EXPECT_EQ(text_of({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}}), "rank 1 of 2 (SLURM_STEP_NUM_TASKS=2)");
}

TEST(Launched, OneRankIsAloneWhateverAnOuterLauncherSays) {
  EXPECT_EQ(text_of({{"OMPI_COMM_WORLD_SIZE", "1"}}), "alone");
  EXPECT_EQ(text_of({{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}}), "alone");
  EXPECT_EQ(text_of({{"PMI_SIZE", "1"}, {"PMIX_RANK", "3"}}), "alone");
}

TEST(Launched, AProcessWithoutALauncherIsAlone) {
  EXPECT_EQ(text_of({}), "alone");
  EXPECT_EQ(text_of({{"OMPI_COMM_WORLD_SIZE", ""}, {"PMI_SIZE", "many"}}), "alone");
}

// `sbatch -n 4` sets these for the script itself, which runs once.
TEST(Launched, ABatchScriptOfSlurmIsAlone) {
  EXPECT_EQ(text_of({{"SLURM_NTASKS", "4"}, {"SLURM_NPROCS", "4"}, {"SLURM_PROCID", "0"}}), "alone");
}

TEST(Launched, PmixSaysOnlyWhichRankAProcessIs) {
  EXPECT_EQ(text_of({{"PMIX_RANK", "3"}}), "rank 3 of several (PMIX_RANK=3)");
  EXPECT_EQ(text_of({{"PMIX_RANK", "0"}}), "alone") << "so is that of a process that nobody launched";
}

}  // namespace
}  // namespace perdure::comm
