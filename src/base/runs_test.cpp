#include "base/runs.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/field_codec.hpp"

namespace perdure::base {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST(Runs, OfRanksOfANodeAreOneHoweverTheyAreDealt) {
  for (const std::uint32_t step : {1U, 8U, 4096U}) {
    Numbers numbers;
    for (std::uint32_t i = 0; i < 128; ++i) numbers.push_back(5 + i * step);
    const Runs<std::uint32_t> runs(numbers);
    EXPECT_EQ(runs.runs(), 1U);
    EXPECT_EQ(runs.list(), numbers);
    EXPECT_EQ(encode_fields(runs).size(), 16U);
  }
}

TEST(Runs, AreTheNumbersThatTheyWereMadeOf) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    std::set<std::uint32_t> chosen;
    for (std::uint64_t i = random() % 40; i > 0; --i)
      chosen.insert(static_cast<std::uint32_t>(random() % (round % 2 == 0 ? 60 : 1ULL << 32)));
    const Numbers numbers(chosen.begin(), chosen.end());
    const Runs<std::uint32_t> runs(numbers);
    ASSERT_EQ(runs.list(), numbers);
    ASSERT_EQ(runs.size(), numbers.size());
    ASSERT_LE(runs.runs(), (numbers.size() + 1) / 2);
    for (std::uint32_t number = 0; number < 60; ++number) ASSERT_EQ(runs.contains(number), chosen.contains(number));
    const auto again = decode_fields<Runs<std::uint32_t>>(encode_fields(runs), "runs");
    ASSERT_TRUE(again) << again.error().text();
    ASSERT_EQ(*again, runs);
  }
}

TEST(Runs, ThatCannotBeAreRefused) {
  using Run = std::array<std::uint32_t, 3>;
  const auto told = [](const std::vector<Run>& runs) {
    return decode_fields<Runs<std::uint32_t>>(encode_fields(runs), "runs").has_value();
  };
  EXPECT_TRUE(told({{1, 2, 3}, {6, 0, 1}}));
  EXPECT_FALSE(told({{1, 2, 3}, {5, 0, 1}})) << "the first one ends with 5";
  EXPECT_FALSE(told({{1, 2, 0}}));
  EXPECT_FALSE(told({{1, 0, 2}}));
  EXPECT_FALSE(told({{1, 1U << 31, 3}})) << "beyond the greatest number";
  EXPECT_FALSE(told({{0, 1, 5U << 20}})) << "12 bytes must not cost a reader 20 MiB";
}

}  // namespace
}  // namespace perdure::base
