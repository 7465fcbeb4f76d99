#include "array/box.hpp"

#include <gtest/gtest.h>

#include "array/any_boxes_testing.hpp"

namespace perdure::array {
namespace {

constexpr std::uint64_t kLarge = 1ULL << 62;

Box box_of(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> sides) {
  Box box;
  for (const auto& [begin, end] : sides) {
    box.begin[box.dimensions] = begin;
    box.end[box.dimensions++] = end;
  }
  return box;
}

base::ErrorCode refused(std::vector<std::uint64_t> extents, std::uint64_t element_bytes) {
  const auto made = whole(extents, element_bytes, "region 3");
  if (made) return PERDURE_OK;
  EXPECT_EQ(made.error().object, "region 3");
  return made.error().code;
}

TEST(Boxes, OfExtentsWhoseProductOverflowsAreRefused) {
  EXPECT_EQ(refused({kLarge - 1, 1}, 1), PERDURE_OK);
  EXPECT_EQ(refused({(1ULL << 63) - 1}, 1), PERDURE_OK);
  EXPECT_EQ(refused({1ULL << 63}, 1), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refused({1ULL << 32, 1ULL << 31}, 1), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refused({1ULL << 32, 1ULL << 30}, 2), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refused({1ULL << 32, 1ULL << 32}, 1), PERDURE_INVALID_ARGUMENT) << "2^64, which is 0 in 64 bits";
  EXPECT_EQ(refused({1ULL << 32, 1ULL << 32, 0}, 8), PERDURE_OK) << "nothing";
  EXPECT_EQ(refused({3}, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refused(std::vector<std::uint64_t>(8, 2), 8), PERDURE_OK);
  EXPECT_EQ(refused(std::vector<std::uint64_t>(9, 2), 8), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refused({}, 8), PERDURE_OK) << "a scalar";
}

TEST(Boxes, AreSaidAsTheirIndices) {
  EXPECT_EQ(box_of({{0, 100}, {20, 40}}).text(), "[0:100, 20:40]");
  EXPECT_EQ(Box().text(), "[]");
  EXPECT_EQ(Box().elements(), 1U);
  EXPECT_EQ(box_of({{3, 3}, {0, 5}}).elements(), 0U);
  EXPECT_EQ(box_of({{1, 3}, {2, 5}}).elements(), 6U);
}

TEST(Boxes, MeetWhereElementsAreInBoth) {
  AnyBoxes any(1);
  for (int round = 0; round < 500; ++round) {
    const Box array = any.array(5), a = any.part(array), b = any.part(array);
    const auto both = intersection(a, b);
    std::uint64_t in_both = 0;
    const auto has = [](const Box& box, const Index& at) {
      for (unsigned d = 0; d < box.dimensions; ++d)
        if (at[d] < box.begin[d] || at[d] >= box.end[d]) return false;
      return true;
    };
    each_element(array, [&](const Index& at) {
      const bool expected = has(a, at) && has(b, at);
      in_both += expected ? 1 : 0;
      ASSERT_EQ(both && has(*both, at), expected) << a.text() << " " << b.text();
    });
    ASSERT_EQ(both ? both->elements() : 0, in_both);
    ASSERT_EQ(a.contains(b), in_both == b.elements());
    ASSERT_TRUE(array.contains(a));
  }
}

TEST(Boxes, OfMoreThan32BitsMeetToo) {
  const Box a = box_of({{0, kLarge}}), b = box_of({{kLarge - 3, kLarge + 5}});
  EXPECT_EQ(intersection(a, b)->text(), "[4611686018427387901:4611686018427387904]");
  EXPECT_FALSE(intersection(a, box_of({{kLarge, kLarge + 5}})));
}

TEST(Boxes, WithGhostsEndAtTheArraysEdges) {
  const Box array = box_of({{0, 10}, {0, 1ULL << 62}}), inner = box_of({{1, 4}, {100, 200}});
  EXPECT_EQ(widened(inner, {2, 30}, array), box_of({{0, 6}, {70, 230}}));
  EXPECT_EQ(widened(inner, {~0ULL, ~0ULL}, array), array);
  EXPECT_EQ(widened(inner, {}, array), inner);
}

TEST(Boxes, BetweenTwoOfTheirElementsAreFewAndInOrder) {
  AnyBoxes any(7);
  for (int round = 0; round < 1000; ++round) {
    const Box box = any.part(any.array(5));
    const std::uint64_t all = box.elements(), first = any.below(all + 1), last = first + any.below(all - first + 1);
    const auto boxes = between(box, first, last);
    ASSERT_LE(boxes.size(), 2 * box.dimensions - 1);
    std::vector<Index> expected, found;
    each_element(box, [&](const Index& at) { expected.push_back(at); });
    for (const Box& part : boxes) each_element(part, [&](const Index& at) { found.push_back(at); });
    expected.resize(last);
    expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(first));
    ASSERT_EQ(found, expected) << first << " to " << last << " of " << box.text();
  }
  EXPECT_EQ(between(Box(), 0, 1), std::vector<Box>{Box()}) << "a scalar";
  EXPECT_TRUE(between(Box(), 0, 0).empty());
}

TEST(Box, WithoutAnotherOneHasAllElementsThatThatHasNot) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    AnyBoxes any(seed);
    const Box whole = any.array(12);
    const Box box = any.part(whole), cut = any.part(whole);
    const auto outside = without(box, cut);
    EXPECT_LE(outside.size(), std::max(2U * whole.dimensions, 1U));
    std::uint64_t elements = 0;
    for (std::size_t i = 0; i < outside.size(); ++i) {
      EXPECT_TRUE(box.contains(outside[i]));
      EXPECT_FALSE(intersection(outside[i], cut));
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(intersection(outside[i], outside[j]));
      elements += outside[i].elements();
    }
    const auto inner = intersection(box, cut);
    EXPECT_EQ(elements, box.elements() - (inner ? inner->elements() : 0)) << "seed " << seed;
  }
  EXPECT_TRUE(without(Box{}, Box{}).empty()) << "a scalar";
}

}  // namespace
}  // namespace perdure::array
