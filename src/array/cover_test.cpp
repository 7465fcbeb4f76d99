// Compares coverage with a count of every single element.
#include "array/cover.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "array/any_boxes_testing.hpp"

namespace perdure::array {
namespace {

constexpr std::size_t kMany = 1U << 20;

std::vector<Owned> owned_by(const std::vector<std::vector<Box>>& division) {
  std::vector<Owned> owned;
  for (std::uint32_t rank = 0; rank < division.size(); ++rank)
    for (const Box& box : division[rank]) owned.push_back({box, rank});
  return owned;
}

std::map<Index, std::vector<std::uint32_t>> owners(const std::vector<Owned>& owned) {
  std::map<Index, std::vector<std::uint32_t>> of;
  for (const Owned& one : owned) each_element(one.box, [&](const Index& at) { of[at].push_back(one.rank); });
  return of;
}

TEST(Cover, OfEveryDivisionIsWholeAndWithoutOverlap) {
  AnyBoxes any(2);
  for (int round = 0; round < 600; ++round) {
    const Box array = any.array(7);
    const auto owned = owned_by(any.division(array, 1 + any.below(16)));
    ASSERT_EQ(owners(owned).size(), array.elements());
    const Cover found = cover(array, owned, kMany);
    ASSERT_FALSE(found.hole) << found.hole->text() << " of " << array.text();
    ASSERT_TRUE(found.overlaps.empty());
  }
}

TEST(Cover, FindsTheFirstMissingElementAndEveryOneWithTwoOwners) {
  AnyBoxes any(3);
  for (int round = 0; round < 600; ++round) {
    const Box array = any.array(6);
    auto owned = owned_by(any.division(array, 1 + any.below(6)));
    const std::size_t taken = any.below(3), more = any.below(3);
    for (std::size_t i = 0; i < taken && !owned.empty(); ++i)
      owned.erase(owned.begin() + static_cast<std::ptrdiff_t>(any.below(owned.size())));
    for (std::size_t i = 0; i < more; ++i) owned.push_back({any.part(array), static_cast<std::uint32_t>(90 + i)});
    const auto of = owners(owned);
    std::optional<Index> missing;
    std::set<Index> shared;
    each_element(array, [&](const Index& at) {
      const auto known = of.find(at);
      if (known == of.end() && !missing) missing = at;
      if (known != of.end() && known->second.size() > 1) shared.insert(at);
    });
    const Cover found = cover(array, owned, kMany);
    ASSERT_TRUE(found.all_overlaps);
    ASSERT_EQ(found.hole.has_value(), missing.has_value());
    if (missing) {
      EXPECT_EQ(found.hole->begin, *missing) << array.text();
      each_element(*found.hole, [&](const Index& at) { ASSERT_FALSE(of.contains(at)); });
    }
    std::set<Index> told;
    for (const Overlap& overlap : found.overlaps)
      each_element(overlap.box, [&](const Index& at) {
        told.insert(at);
        const auto& ranks = of.at(at);
        EXPECT_TRUE(std::find(ranks.begin(), ranks.end(), overlap.first) != ranks.end());
        EXPECT_TRUE(std::find(ranks.begin(), ranks.end(), overlap.second) != ranks.end());
      });
    ASSERT_EQ(told, shared);
  }
}

TEST(Cover, TellsNoMoreOverlapsThanAskedFor) {
  const Box array = whole(std::array<std::uint64_t, 1>{100}, 8, "test").value();
  std::vector<Owned> owned;
  for (std::uint32_t rank = 0; rank < 50; ++rank) owned.push_back({array, rank});
  const Cover found = cover(array, owned, 3);
  EXPECT_EQ(found.overlaps.size(), 3U);
  EXPECT_FALSE(found.all_overlaps);
  EXPECT_EQ(found.overlaps[0], (Overlap{array, 0, 1}));
}

TEST(Cover, TellsOfARankThatHasAnElementTwiceWhereALowerOneHasItToo) {
  const Box array = whole(std::array<std::uint64_t, 1>{10}, 8, "test").value();
  Box half = array;
  half.end[0] = 5;
  const Cover found = cover(array, {{array, 1}, {array, 4}, {half, 4}}, 100);
  EXPECT_NE(std::find(found.overlaps.begin(), found.overlaps.end(), Overlap{half, 4, 4}), found.overlaps.end());
}

TEST(Cover, OfNothingIsWhole) {
  const Box none = whole(std::array<std::uint64_t, 2>{0, 5}, 8, "test").value();
  EXPECT_FALSE(cover(none, {}, 1).hole);
  const Box scalar = whole({}, 8, "test").value();
  EXPECT_EQ(cover(scalar, {}, 1).hole, scalar);
  EXPECT_FALSE(cover(scalar, {{scalar, 0}}, 1).hole);
}

// There are 16,384 blocks in three dimensions, of which one is missing: thousands of millions of elements.
TEST(Cover, OfManyBlocksNeedsNoElementOneByOne) {
  const Box array = whole(std::array<std::uint64_t, 3>{40'000, 40'000, 40'000}, 8, "test").value();
  const Grid grid = even_grid(array, 16'384);
  std::vector<Owned> owned;
  for (std::uint32_t rank = 0; rank < 16'384; ++rank) owned.push_back({block(array, grid, rank), rank});
  EXPECT_FALSE(cover(array, owned, 1).hole);
  const Owned gone = owned[12'345];
  owned.erase(owned.begin() + 12'345);
  EXPECT_EQ(cover(array, owned, 1).hole, gone.box);
}

}  // namespace
}  // namespace perdure::array
