#include "plan/restoring.hpp"

#include <gtest/gtest.h>

namespace perdure::plan {
namespace {

using After = RestoreStep;

TEST(Restoring, LeavesADamagedVersionForAnOlderOneOnlyWhereThatWillDo) {
  EXPECT_EQ(after_failed_restore({.latest = true}), After::older);
  EXPECT_EQ(after_failed_restore({.latest = false}), After::fail);
}

TEST(Restoring, TriesWhatCanBeRepairedTwiceMore) {
  for (const bool others : {false, true}) {
    FailedRestore failed{.read_again = !others, .others_help = others, .latest = true};
    EXPECT_EQ(after_failed_restore(failed), After::again);
    failed.repairs = 1;
    EXPECT_EQ(after_failed_restore(failed), After::again);
    failed.repairs = 2;
    EXPECT_EQ(after_failed_restore(failed), After::older);
  }
}

// Whatever else is known, there is no evidence against the version.
TEST(Restoring, NeverLeavesAVersionForAnOlderOneBecauseSomethingHinderedIt) {
  for (unsigned hindrances = 1; hindrances < 10; ++hindrances)
    for (const bool others : {false, true})
      for (const bool read : {false, true})
        for (unsigned repairs = 0; repairs < 4; ++repairs) {
          const auto after = after_failed_restore({.hindered = true,
                                                   .read_again = read,
                                                   .others_help = others,
                                                   .latest = true,
                                                   .hindrances = hindrances,
                                                   .repairs = repairs});
          const auto last = others && hindrances == 3 ? After::without_slots : After::fail;
          EXPECT_EQ(after, hindrances < 3 ? After::again_after_pause : last) << hindrances;
        }
}

TEST(Restoring, PausesLongerEachTimeAndNotForLong) {
  EXPECT_GT(pause_after_hindrance_ns(1), 0U);
  EXPECT_GT(pause_after_hindrance_ns(2), pause_after_hindrance_ns(1));
  EXPECT_LE(pause_after_hindrance_ns(20), 1'000'000'000U);
}

TEST(Restoring, GoesOnWithNewEnginesAFewTimes) {
  EXPECT_EQ(after_failed_restore({.engine_gone = true, .hindered = true, .engines_lost = 4}), After::attach);
  EXPECT_EQ(after_failed_restore({.engine_gone = true, .latest = true, .engines_lost = 5}), After::fail);
}

TEST(Restoring, EndsWhereTheVersionDoesNotFit) {
  EXPECT_EQ(after_failed_restore({.wrong_use = true, .engine_gone = true, .latest = true}), After::fail);
}

}  // namespace
}  // namespace perdure::plan
