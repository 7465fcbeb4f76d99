#include "array/box_code.hpp"

#include <gtest/gtest.h>

#include "array/any_boxes_testing.hpp"

namespace perdure::array {
namespace {

Box of_extents(std::vector<std::uint64_t> extents) { return whole(extents, 1, "test").value(); }

TEST(BoxCodes, GiveTheBoxesBack) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    AnyBoxes any(seed);
    const Box of = any.array(40);
    for (const auto& mine : any.division(of, 1 + any.below(12))) {
      std::vector<Box> boxes;
      for (const Box& box : mine)
        if (!box.empty()) boxes.push_back(box);
      const auto read = decode_boxes(encode_boxes(boxes), of, kMostBoxes, "test");
      ASSERT_TRUE(read) << seed;
      EXPECT_EQ(*read, boxes) << seed;
    }
    std::vector<Box> anything;
    for (std::uint64_t i = any.below(20); i > 0; --i) anything.push_back(any.part(of));
    if (!anything.empty() && any.chance()) anything.push_back(anything.back());
    EXPECT_EQ(decode_boxes(encode_boxes(anything), of, kMostBoxes, "test").value(), anything) << seed;
  }
}

TEST(BoxCodes, AreShortForRegularDivisions) {
  const Box of = of_extents({1000, 1000, 1000});
  const Grid grid = even_grid(of, 8);
  EXPECT_LT(encode_boxes({block(of, grid, 5)}).size(), 20U);
  Index lengths{};
  lengths.fill(10);
  const auto dealt = block_cyclic(of, grid, lengths, 5, 1U << 20, "test").value();
  EXPECT_EQ(dealt.size(), 50U * 50 * 50);
  EXPECT_LT(encode_boxes(dealt).size(), 40U);
  EXPECT_TRUE(encode_boxes({}).empty());
}

TEST(BoxCodes, OfScalarsAreCounted) {
  const Box scalar = of_extents({});
  EXPECT_EQ(decode_boxes(encode_boxes({scalar}), scalar, 10, "test").value(), std::vector<Box>{scalar});
  EXPECT_TRUE(decode_boxes(encode_boxes({}), scalar, 10, "test").value().empty());
}

TEST(BoxCodes, OfHostileBytesAreRefusedOrInside) {
  std::mt19937_64 random(2);
  unsigned good = 0;
  for (int i = 0; i < 100'000; ++i) {
    AnyBoxes any(random());
    const Box of = any.array(40);
    std::vector<std::byte> bytes = encode_boxes({any.part(of), any.part(of)});
    for (std::size_t n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    const auto read = decode_boxes(bytes, of, 1000, "segment s");
    if (!read) {
      EXPECT_EQ(read.error().code, PERDURE_CORRUPT);
      EXPECT_EQ(read.error().object, "segment s");
      continue;
    }
    ++good;
    EXPECT_LE(read->size(), 1000U);
    for (const Box& box : *read) EXPECT_TRUE(!box.empty() && of.contains(box)) << box.text();
  }
  EXPECT_GT(good, 1000U);
}

TEST(BoxCodes, TakeNoMoreThanIsAllowed) {
  const Box of = of_extents({1ULL << 40});
  std::vector<Box> three;
  for (std::uint64_t i = 0; i < 3; ++i) {
    Box box = of;
    box.begin[0] = 10 * i;
    box.end[0] = 10 * i + 1;
    three.push_back(box);
  }
  EXPECT_TRUE(decode_boxes(encode_boxes(three), of, 3, "test"));
  EXPECT_FALSE(decode_boxes(encode_boxes(three), of, 2, "test"));
  // A few bytes claim a run of 2^40 intervals.
  const std::vector<std::byte> bomb = {std::byte{1},   std::byte{0},   std::byte{1},   std::byte{255}, std::byte{255},
                                       std::byte{255}, std::byte{255}, std::byte{255}, std::byte{15},  std::byte{1}};
  EXPECT_FALSE(decode_boxes(bomb, of, kMostBoxes, "test"));
}

}  // namespace
}  // namespace perdure::array
