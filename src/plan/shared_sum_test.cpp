#include "plan/shared_sum.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace perdure::plan {
namespace {

/// Ranks that share random boxes with their neighbours.
class SharedSums : public ::testing::Test {
 protected:
  struct Side {
    SharedSum::Box box;
    base::Hash128 lower, higher;
  };
  void draw(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    sides_.clear();
    for (std::uint64_t rank = 0; rank + 1 < kRanks; ++rank)
      for (std::uint64_t other = rank + 1; other < std::min(kRanks, rank + 4); ++other)
        for (std::uint64_t number = 0; number < 1 + random() % 3; ++number) {
          const base::Hash128 hash{random(), random()};
          sides_.push_back({{static_cast<std::int32_t>(random() % 2), rank, other, number}, hash, hash});
        }
  }
  bool all_equal() const {
    std::vector<SharedSum> ranks(kRanks);
    for (const Side& side : sides_) {
      ranks[side.box.lower].add(side.box, side.lower, true);
      ranks[side.box.higher].add(side.box, side.higher, false);
    }
    SharedSum::Words sums{};
    for (const SharedSum& rank : ranks)
      for (std::size_t i = 0; i < SharedSum::kWords; ++i) {
        EXPECT_LT(rank.words()[i], std::uint64_t{1} << 32U) << "2^31 ranks can be added";
        sums[i] += rank.words()[i];
      }
    return SharedSum::all_equal(sums);
  }

  static constexpr std::uint64_t kRanks = 40;
  std::vector<Side> sides_;
};

TEST_F(SharedSums, AreNothingWhereAllAreEqualAndElseNot) {
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    draw(seed);
    EXPECT_TRUE(all_equal()) << seed;
    Side& one = sides_[seed % sides_.size()];
    one.higher.low ^= std::uint64_t{1} << seed;
    EXPECT_FALSE(all_equal()) << seed;
    one.higher.low ^= std::uint64_t{1} << seed;
    one.lower.high ^= 1;
    EXPECT_FALSE(all_equal()) << seed;
  }
}

// One rank's values went to another place, so that each hash occurs as often as it should.
TEST_F(SharedSums, DifferWhereValuesWereExchanged) {
  draw(7);
  std::swap(sides_[3].lower, sides_[11].lower);
  EXPECT_FALSE(all_equal());
  draw(7);
  const std::uint64_t difference = sides_[3].lower.low;
  sides_[3].lower.low += difference;
  sides_[11].lower.low -= difference;
  EXPECT_FALSE(all_equal()) << "two differences make up for each other";
}

TEST_F(SharedSums, DifferWhereOnlyOneOfTwoKnowsOfABox) {
  draw(3);
  SharedSum alone;
  alone.add({1, 2, 3, 0}, {4, 5}, true);
  EXPECT_FALSE(SharedSum::all_equal(alone.words()));
}

}  // namespace
}  // namespace perdure::plan
