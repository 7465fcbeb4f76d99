#include "report.hpp"

#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

Samples good_samples() {
  Samples samples;
  samples.memcpy = {0.10};
  samples.fresh_write = {0.60};
  samples.store_write = {1.0};
  samples.blocking = {0.12};
  samples.flush = {1.1};
  samples.total = {1.2};
  samples.restore = {0.15};
  samples.empty_checkpoint = {0.0015};
  samples.barrier = {0.0001};
  samples.around_nothing = {0.00005};
  return samples;
}

int missed_goals(const Samples& samples, std::size_t own_memory_bytes = 3 << 20) {
  Context context;
  context.own_memory_bytes = own_memory_bytes;
  int missed = 0;
  for (const auto& goal : goals(to_json(context, samples))) missed += goal.met ? 0 : 1;
  return missed;
}

TEST(Report, SaysThatAGoalIsMetOnlyWhenItIs) {
  const auto missed_with = [](auto member, double seconds) {
    Samples samples = good_samples();
    samples.*member = {seconds};
    return missed_goals(samples);
  };
  EXPECT_EQ(missed_goals(good_samples()), 0);
  EXPECT_EQ(missed_with(&Samples::blocking, 0.18), 1);  // 0.56 of memcpy, still 3.3 times tmpfs
  EXPECT_EQ(missed_with(&Samples::fresh_write, 0.3), 1);
  EXPECT_EQ(missed_with(&Samples::restore, 0.21), 1);
  EXPECT_EQ(missed_with(&Samples::flush, 1.3), 1);
  EXPECT_EQ(missed_with(&Samples::empty_checkpoint, 0.0022), 1);
  EXPECT_EQ(missed_goals(good_samples(), 16 << 20), 1);
}

TEST(Report, TheJsonObjectHasEveryFigureThatIsAskedFor) {
  Context context;
  context.ranks = 4;
  const auto json = to_json(context, good_samples());
  for (const char* key : {"ranks", "bytes_per_rank", "blocking_s", "flush_s", "restore_s", "memcpy_s", "fresh_write_s",
                          "store_write_s", "empty_checkpoint_s", "barrier_s", "total_s", "own_memory_bytes", "capture",
                          "first_level", "around_nothing_s"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["ranks"], 4);
  EXPECT_EQ(json["blocking_s"], 0.12);
}

TEST(Report, HasSumsOverAllRepetitionsBesideMedians) {
  Samples samples = good_samples();
  samples.total = {1, 2, 9};
  samples.store_write = {2, 2, 5};
  const auto json = to_json({}, samples);
  EXPECT_EQ(json["total_s"], 2);
  EXPECT_EQ(json["total_sum_s"], 12);
  EXPECT_EQ(json["store_write_sum_s"], 9);
}

}  // namespace
}  // namespace perdure::bench
