// Tests that blocks with their own time steps, killed anywhere, end as the undisturbed run does.
#include <gmock/gmock.h>

#include "mesh/lives_testing.hpp"
#include "mesh/two_blocks_testing.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"

namespace perdure::mesh {
namespace {

TEST(BlocksWithTimeStepsOfTheirOwn, KilledAnywhereEndAsTheUndisturbedRun) {
  const auto seeds = test_support::many_seeds(0, 100, 20);
  Lives lives;
  for (std::uint64_t seed = seeds.begin; seed < seeds.end && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_the_undisturbed_end(TwoBlocks::any(seed), seed, lives, TwoBlocks::kLoops);
  }
  if (!seeds.usual) return;
  EXPECT_GT(lives.restarts, seeds.count());
  EXPECT_GT(lives.foreseen, seeds.count());
  EXPECT_GT(lives.aside, seeds.count());
  if (test_support::kSanitized) return;  // sanitized runs take too few lives to reach every loop
  for (const char* loop : TwoBlocks::kLoops) EXPECT_GT(lives.before[loop], seeds.count() / 10) << loop;
}

// Each life is killed at one of the loops after the checkpoint that precedes the given loop.
TEST(BlocksWithTimeStepsOfTheirOwn, GoOnFromEachOfTheirLoops) {
  for (const std::int64_t sub_steps : {0, 3}) {
    const TwoBlocks program({{9, 8}, {8, 10}, sub_steps, 10});
    const auto whole = undisturbed(program);
    for (const char* place : TwoBlocks::kLoops)
      for (std::uint64_t dies = 14; dies < whole.second; dies += test_support::unless_sanitized(9, 45)) {
        SCOPED_TRACE(testing::Message() << place << ", dies at " << dies);
        Policy policy;
        policy.every_loops = 5;
        policy.learns = 32;
        policy.before = place;
        SharedVersions shared;
        Told told;
        EXPECT_FALSE(live(program, 2, policy, shared, dies, told));
        for (const Taken& taken : told.taken) EXPECT_EQ(taken.before, place);
        // The sums read some elements only at the end, so no foreseen checkpoint holds them. A resume that detects
        // this gives the checkpoint up.
        std::optional<End> end;
        for (int start = 0; start < 3 && !end; ++start) end = live(program, 1, policy, shared, ~std::uint64_t{0}, told);
        EXPECT_TRUE(end == whole.first);
      }
  }
}

// After the last sub-step a checkpoint needs neither the coarse values that the fine block replaces nor the edge's
// data.
TEST(BlocksWithTimeStepsOfTheirOwn, FindTheSmallestPlaceWithinTheStepOfBoth) {
  const TwoBlocks program({{9, 8}, {8, 10}, 3, 21});  // a whole step after the last checkpoint
  Policy policy;
  policy.every_loops = 31;
  policy.learns = 64;
  SharedVersions shared;
  Told told;
  ASSERT_TRUE(live(program, 2, policy, shared, ~std::uint64_t{0}, told));
  std::size_t learnt = 0;
  for (const Taken& taken : told.taken) {
    if (!taken.foreseen && learnt == 0)
      continue;  // a request made before learning was complete waits two steps at most
    ++learnt;
    EXPECT_TRUE(taken.foreseen);
    EXPECT_EQ(taken.before, "hand up");
    EXPECT_EQ(taken.bytes, (9U * 8 - 2 * 8 + 8 * 10) * 8);
  }
  EXPECT_GE(learnt, 3U);
  EXPECT_GT(told.taken.size(), learnt);
  EXPECT_THAT(told.said, testing::IsEmpty());
}

}  // namespace
}  // namespace perdure::mesh
