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

TEST(Pacing, WithoutALimitNobodyWaits) { EXPECT_EQ(Pacing(0).delay_ns(0, 0, 1ULL << 40), 0u); }

TEST(Pacing, WaitsForWhatIsAheadOfTheRate) {
  EXPECT_EQ(Pacing(1000).delay_ns(0, 0, 1000), kSecond);
  EXPECT_EQ(Pacing(1000).delay_ns(5 * kSecond, 5 * kSecond + kSecond / 4, 1000), kSecond - kSecond / 4);
  EXPECT_EQ(Pacing(1000).delay_ns(0, kSecond, 1000), 0u);
  EXPECT_EQ(Pacing(1000).delay_ns(0, 5 * kSecond, 1000), 0u);
}

TEST(Pacing, APauseIsNotMadeUpFor) {
  Pacing pacing(1000);
  EXPECT_EQ(pacing.delay_ns(0, 0, 1000), kSecond);
  EXPECT_EQ(pacing.delay_ns(100 * kSecond, 100 * kSecond, 1000), kSecond);
}

// Senders sleep as told, on a clock of the test's own. In no second do they send more than the limit plus their bytes
// in flight.
TEST(Pacing, SendersThatSleepAsToldKeepToTheRateTogetherWheneverTheyBegin) {
  std::mt19937_64 random(3);
  const std::uint64_t rate = 50'000'000, largest = 1'000'000;
  Pacing pacing(rate);
  struct Sender {
    std::uint64_t begun_ns = 0, ends_ns = 0, bytes = 0;
  };
  std::vector<Sender> senders(4);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sent;  // when, how much
  for (int block = 0; block < 4000; ++block) {
    Sender& next = *std::min_element(senders.begin(), senders.end(),
                                     [](const auto& a, const auto& b) { return a.ends_ns < b.ends_ns; });
    sent.emplace_back(next.ends_ns, next.bytes);
    next.begun_ns = next.ends_ns + pacing.delay_ns(next.begun_ns, next.ends_ns, next.bytes);
    if (random() % 50 == 0) next.begun_ns += 3 * kSecond;  // an idle time
    next.bytes = random() % largest;
    next.ends_ns = next.begun_ns + random() % 20'000'000;
  }
  for (std::size_t first = 0, last = 0, sum = 0; last < sent.size(); ++last) {
    sum += sent[last].second;
    while (sent[last].first - sent[first].first > kSecond) sum -= sent[first++].second;
    ASSERT_LE(sum, rate + 2 * senders.size() * largest);
  }
}

TEST(Pacing, IsExactEnoughForPetabytes) {
  const std::uint64_t petabyte = 1'000'000'000'000'000;
  EXPECT_NEAR(static_cast<double>(Pacing(1'000'000'000).delay_ns(0, 0, petabyte)), 1e15, 1e3);
}

}  // namespace
}  // namespace perdure::plan
