// Compares copies run by run with copies element by element.
#include "array/strided.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "array/any_boxes_testing.hpp"

namespace perdure::array {
namespace {

// Lays out the first dimension fastest.
Strided packed_columns(const Box& box, std::uint64_t element_bytes, std::int64_t offset) {
  Strided lies{box, {}, offset};
  auto stride = static_cast<std::int64_t>(element_bytes);
  for (unsigned d = 0; d < box.dimensions; ++d) {
    lies.strides[d] = stride;
    stride *= static_cast<std::int64_t>(box.extent(d));
  }
  return lies;
}

TEST(Strided, AreCopiedRunByRunAsElementByElement) {
  AnyBoxes any(4);
  for (int round = 0; round < 1500; ++round) {
    const Box array = any.array(6), a = any.part(array), b = any.part(array);
    const auto part = intersection(a, b);
    if (!part) continue;
    const std::uint64_t element = 1 + any.below(16);
    std::uint64_t from_bytes = 0, to_bytes = 0;
    const Strided from = any.strided(a, element, from_bytes), to = any.strided(b, element, to_bytes);
    std::vector<char> source(from_bytes), expected(to_bytes), copied(to_bytes);
    for (char& byte : source) byte = static_cast<char>(1 + any.below(255));
    each_element(*part, [&](const Index& at) {
      std::memcpy(expected.data() + to.at(at), source.data() + from.at(at), element);
    });
    const StridedCopy all = strided_copy(*part, element, from, to);
    std::uint64_t bytes = 0, count = 0;
    all.each([&](std::int64_t source_at, std::int64_t target_at, std::uint64_t length) {
      ASSERT_GE(source_at, 0);
      ASSERT_GE(target_at, 0);
      ASSERT_LE(static_cast<std::uint64_t>(source_at) + length, from_bytes);
      ASSERT_LE(static_cast<std::uint64_t>(target_at) + length, to_bytes);
      std::memcpy(copied.data() + target_at, source.data() + source_at, length);
      bytes += length;
      ++count;
    });
    ASSERT_EQ(copied, expected) << part->text() << " of " << a.text() << " to " << b.text();
    ASSERT_EQ(bytes, part->elements() * element);
    ASSERT_EQ(count, all.runs());
  }
}

TEST(Strided, AreCopiedInAsLongRunsAsBothPermit) {
  const Box array = whole(std::array<std::uint64_t, 3>{10, 20, 30}, 8, "test").value();
  const Strided all = packed(array, 8, 0);
  EXPECT_EQ(strided_copy(array, 8, all, all).bytes, 10U * 20 * 30 * 8);
  Box planes = array;
  planes.begin[0] = 3;
  planes.end[0] = 5;
  const StridedCopy two_planes = strided_copy(planes, 8, all, packed(planes, 8, 100));
  EXPECT_EQ(two_planes.runs(), 1U);
  EXPECT_EQ(two_planes.bytes, 2U * 20 * 30 * 8);
  EXPECT_EQ(two_planes.from, 3 * 20 * 30 * 8);
  EXPECT_EQ(two_planes.to, 100);
  Box rows = array;
  rows.end[1] = 4;
  const StridedCopy of_rows = strided_copy(rows, 8, all, packed(rows, 8, 0));
  EXPECT_EQ(of_rows.bytes, 4U * 30 * 8);
  EXPECT_EQ(of_rows.runs(), 10U);
  Box columns = array;
  columns.end[2] = 1;
  const StridedCopy of_columns = strided_copy(columns, 8, all, packed(columns, 8, 0));
  EXPECT_EQ(of_columns.bytes, 8U);
  EXPECT_EQ(of_columns.dimensions, 1U) << "both loops are one";
  EXPECT_EQ(of_columns.runs(), 200U);
  const StridedCopy turned = strided_copy(array, 8, all, packed_columns(array, 8, 0));
  EXPECT_EQ(turned.bytes, 8U);
  EXPECT_EQ(turned.runs(), 6000U);
  const StridedCopy columns_alike = strided_copy(array, 8, packed_columns(array, 8, 0), packed_columns(array, 8, 0));
  EXPECT_EQ(columns_alike.runs(), 1U);
}

TEST(Strided, OfScalarsAndOfNothing) {
  const Box scalar = whole({}, 16, "test").value();
  const StridedCopy one = strided_copy(scalar, 16, packed(scalar, 16, 7), packed(scalar, 16, 9));
  EXPECT_EQ(one.runs(), 1U);
  EXPECT_EQ(one.bytes, 16U);
  EXPECT_EQ(one.from, 7);
  EXPECT_EQ(one.to, 9);
  const Box none = whole(std::array<std::uint64_t, 2>{0, 5}, 8, "test").value();
  const StridedCopy nothing = strided_copy(none, 8, packed(none, 8, 0), packed(none, 8, 0));
  EXPECT_EQ(nothing.runs(), 0U);
  nothing.each([](std::int64_t, std::int64_t, std::uint64_t) { FAIL(); });
}

}  // namespace
}  // namespace perdure::array
