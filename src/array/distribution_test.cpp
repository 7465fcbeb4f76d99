#include "array/distribution.hpp"

#include <gtest/gtest.h>

#include "array/any_boxes_testing.hpp"
#include "array/box_index.hpp"

namespace perdure::array {
namespace {

Box array_of(std::vector<std::uint64_t> extents) { return whole(extents, 1, "test").value(); }

TEST(Distributions, GiveBlocksWhoseLengthsDifferByAtMostOne) {
  AnyBoxes any(5);
  for (int round = 0; round < 200; ++round) {
    const Box array = any.array(100);
    const std::uint64_t ranks = 1 + any.below(64);
    const Grid grid = even_grid(array, ranks);
    ASSERT_EQ(grid.size(), ranks);
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      const Box mine = block(array, grid, rank);
      for (unsigned d = 0; d < array.dimensions; ++d) {
        ASSERT_GE(mine.extent(d), array.extent(d) / grid.ranks[d]);
        ASSERT_LE(mine.extent(d), array.extent(d) / grid.ranks[d] + 1);
      }
    }
  }
}

TEST(Distributions, MakeGridsAsEvenAsTheArray) {
  EXPECT_EQ(even_grid(array_of({1000, 1000, 1000}), 64).ranks, (Index{4, 4, 4}));
  EXPECT_EQ(even_grid(array_of({1000, 10}), 8).ranks, (Index{8, 1}));
  EXPECT_EQ(even_grid(array_of({100, 100}), 7).ranks, (Index{7, 1}));
  EXPECT_EQ(even_grid(array_of({}), 5).size(), 5U);
}

// 2^62 indices times numbers of ranks exceed 64 bits.
TEST(Distributions, OfMoreThan32BitsAreExact) {
  const Box array = array_of({(1ULL << 62) + 12345});
  const Grid grid{1, {1'000'003}};
  std::uint64_t next = 0;
  for (std::uint64_t rank = 0; rank < 1'000'003; ++rank) {
    const Box mine = block(array, grid, rank);
    ASSERT_EQ(mine.begin[0], next);
    next = mine.end[0];
  }
  EXPECT_EQ(next, array.end[0]);
}

TEST(Distributions, DealOutBlocksInTurn) {
  const Box array = array_of({10, 6});
  const Grid grid{2, {2, 2}};
  const auto boxes = block_cyclic(array, grid, {3, 2}, 1, 100, "region 3").value();
  std::vector<std::string> texts;
  for (const Box& box : boxes) texts.push_back(box.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"[0:3, 2:4]", "[6:9, 2:4]"}));
  EXPECT_EQ(block_cyclic(array, grid, {3, 0}, 1, 100, "region 3").error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(block_cyclic(array, grid, {1, 1}, 1, 14, "region 3").error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(block_cyclic(array, grid, {1, 1}, 1, 15, "region 3").value().size(), 15U);
  EXPECT_EQ(block_cyclic(array_of({1ULL << 62}), {1, {2}}, {1}, 1, 1000, "region 3").error().code,
            PERDURE_INVALID_ARGUMENT)
      << "at once, not after 2^61 blocks";
}

TEST(BoxIndex, FindsWhatLookingAtAllFinds) {
  AnyBoxes any(6);
  for (int round = 0; round < 200; ++round) {
    const Box array = any.array(12);
    std::vector<Box> boxes(any.below(100));
    for (Box& box : boxes) {
      box = any.part(array);
      if (any.below(10) == 0) box.end[0] = box.begin[0];
    }
    const BoxIndex index(boxes);
    for (int question = 0; question < 10; ++question) {
      const Box asked = any.part(array);
      std::vector<std::size_t> expected, found;
      for (std::size_t i = 0; i < boxes.size(); ++i)
        if (intersection(boxes[i], asked)) expected.push_back(i);
      index.meeting(asked, [&](std::size_t number) { found.push_back(number); });
      std::sort(found.begin(), found.end());
      ASSERT_EQ(found, expected);
    }
  }
}

}  // namespace
}  // namespace perdure::array
