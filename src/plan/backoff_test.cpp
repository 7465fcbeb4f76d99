#include "plan/backoff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace perdure::plan {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(Backoff, DoublesFromTheInitialDelayToTheMaximum) {
  const Backoff backoff{10, 100, kSecond};
  const std::uint64_t expected[] = {10, 20, 40, 80, 100, 100};
  for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(next_delay_ns(backoff, i + 1, 0), expected[i]) << i;
}

TEST(Backoff, DoesNotOverflowAfterManyFailures) {
  EXPECT_EQ(next_delay_ns({1, ~0ULL / 4, kSecond}, 4'000'000'000U, 0), ~0ULL / 4);
  EXPECT_EQ(next_delay_ns({100, 100, kSecond}, 4'000'000'000U, 0), 100u);
}

TEST(Backoff, GivesUpWhenItHasFailedForTheWholeTime) {
  const Backoff backoff{10, 100, 1000};
  EXPECT_TRUE(next_delay_ns(backoff, 50, 999).has_value());
  EXPECT_FALSE(next_delay_ns(backoff, 1, 1000).has_value());
  EXPECT_FALSE(next_delay_ns({10, 100, 0}, 1, 0).has_value());
}

TEST(Backoff, AnInitialDelayAboveTheMaximumIsTheMaximum) { EXPECT_EQ(next_delay_ns({500, 100, kSecond}, 1, 0), 100u); }

TEST(Pacing, WithoutALimitNobodyWaits) { EXPECT_EQ(pacing_delay_ns(1ULL << 40, 0, 0), 0u); }

TEST(Pacing, WaitsForWhatIsAheadOfTheRate) {
  EXPECT_EQ(pacing_delay_ns(1000, 0, 1000), kSecond);
  EXPECT_EQ(pacing_delay_ns(1000, kSecond / 4, 1000), kSecond - kSecond / 4);
  EXPECT_EQ(pacing_delay_ns(1000, kSecond, 1000), 0u);
  EXPECT_EQ(pacing_delay_ns(1000, 5 * kSecond, 1000), 0u);
}

// A sender that sleeps as it is told, on a clock of the test's own.
TEST(Pacing, ASenderThatSleepsAsToldNeverExceedsTheRate) {
  std::mt19937_64 random(3);
  const std::uint64_t rate = 50'000'000;
  std::uint64_t now = 0, sent = 0;
  for (int block = 0; block < 2000; ++block) {
    now += random() % 20'000'000;  // how long the write itself took
    sent += random() % 1'000'000;
    now += pacing_delay_ns(sent, now, rate);
    ASSERT_LE(static_cast<double>(sent), static_cast<double>(rate) * static_cast<double>(now) * 1e-9 * 1.0001 + 1)
        << block;
  }
}

TEST(Pacing, IsExactEnoughForPetabytes) {
  const std::uint64_t petabyte = 1'000'000'000'000'000;
  const double wait = static_cast<double>(pacing_delay_ns(petabyte, 0, 1'000'000'000));
  EXPECT_NEAR(wait, 1e15, 1e3);
}

}  // namespace
}  // namespace perdure::plan
