#include "engine/ledger/write_times.hpp"

#include <gtest/gtest.h>

#include <random>

namespace perdure::engine {
namespace {

TEST(WriteTimes, OneWriterAloneHasTheWholeTier) {
  WriteTimes times(1);
  times.granted(10, 1, {0, 5});
  EXPECT_EQ(times.writers(0), 1u);
  EXPECT_EQ(times.writers(0, 1), 0u) << "but for itself";
  const auto observed = times.written(12, 1, {0, 5}, 100);
  ASSERT_TRUE(observed);
  EXPECT_EQ(observed->writers, 1u);
  EXPECT_DOUBLE_EQ(observed->bytes_per_s, 50);
  EXPECT_EQ(times.writers(0), 0u);
}

TEST(WriteTimes, WhatIsObservedIsTheAggregateOfThoseThatWroteMeanwhile) {
  WriteTimes times(2);
  times.granted(0, 1, {0, 1});
  times.granted(0, 2, {0, 2});
  times.granted(0, 3, {1, 1});  // another tier
  times.granted(1, 4, {0, 3});
  times.dropped(2, 4, {0, 3});
  const auto observed = times.written(4, 1, {0, 1}, 100);  // 2, 3, 2, 2 writers: 2.25 on average
  ASSERT_TRUE(observed);
  EXPECT_EQ(observed->writers, 2u);
  EXPECT_DOUBLE_EQ(observed->bytes_per_s, 2.25 * 100 / 4);
}

TEST(WriteTimes, ASlotThatWasAskedForAheadIsWrittenAfterTheOneBefore) {
  WriteTimes times(2);
  times.granted(0, 1, {0, 1});
  times.granted(0, 1, {1, 7});
  EXPECT_EQ(times.writers(0), 1u);
  EXPECT_EQ(times.writers(1), 0u) << "not yet";
  ASSERT_TRUE(times.written(3, 1, {0, 1}, 30));
  EXPECT_EQ(times.writers(0), 0u);
  EXPECT_EQ(times.writers(1), 1u);
  const auto observed = times.written(5, 1, {1, 7}, 30);
  ASSERT_TRUE(observed);
  EXPECT_DOUBLE_EQ(observed->bytes_per_s, 15);
}

TEST(WriteTimes, WhatIsToldLateTakesNothingBack) {
  WriteTimes times(1);
  times.granted(10, 1, {0, 1});
  times.granted(5, 2, {0, 2});  // its thread was delayed on its way here
  const auto observed = times.written(20, 1, {0, 1}, 100);
  ASSERT_TRUE(observed);
  EXPECT_EQ(observed->writers, 2u);
  EXPECT_DOUBLE_EQ(observed->bytes_per_s, 2.0 * 100 / 10);
}

TEST(WriteTimes, OutOfOrderOrUnknownSaysNothing) {
  WriteTimes times(1);
  EXPECT_FALSE(times.written(1, 9, {0, 1}, 10));
  times.granted(1, 1, {0, 1});
  times.granted(1, 1, {0, 2});
  EXPECT_FALSE(times.written(2, 1, {0, 2}, 10)) << "the one before it was not written";
  EXPECT_FALSE(times.written(2, 1, {0, 2}, 10)) << "twice";
  EXPECT_EQ(times.writers(0), 1u);
  times.dropped(2, 1, {0, 1});
  times.dropped(2, 1, {0, 1});
  EXPECT_EQ(times.writers(0), 0u);
}

TEST(WriteTimes, CountsNobodyOnceEverySlotIsWrittenOrDroppedInAnyOrder) {
  std::mt19937_64 random(3);
  WriteTimes times(3);
  std::vector<std::pair<ClientId, SlotKey>> open;
  double now = 0;
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    now += static_cast<double>(random() % 3);
    if (open.empty() || (random() % 2 == 0 && step < 10'000)) {
      open.push_back({1 + random() % 5, {static_cast<std::uint32_t>(random() % 3), step}});
      times.granted(now, open.back().first, open.back().second);
      continue;
    }
    std::swap(open[random() % open.size()], open.back());
    const auto [client, slot] = open.back();
    open.pop_back();
    if (random() % 3 == 0) {
      times.dropped(now, client, slot);
    } else if (const auto observed = times.written(now, client, slot, 10)) {
      EXPECT_GE(observed->writers, 1u);
      EXPECT_LE(observed->writers, 5u);
      EXPECT_GT(observed->bytes_per_s, 0);
    }
  }
  ASSERT_TRUE(open.empty());
  for (std::uint32_t tier = 0; tier < 3; ++tier) EXPECT_EQ(times.writers(tier), 0u);
}

}  // namespace
}  // namespace perdure::engine
