// The chunks of an array in a file cover each element once.
#include "portable/chunking.hpp"

#include <gtest/gtest.h>

#include <set>

#include "array/any_boxes_testing.hpp"

namespace perdure::portable {
namespace {

array::Box extents(std::initializer_list<std::uint64_t> of) {
  array::Box box;
  for (const std::uint64_t extent : of) box.end[box.dimensions++] = extent;
  return box;
}

TEST(ChunksOfAnArray, ArePartsOfWhatARankStored) {
  EXPECT_EQ(chunk_extents(extents({100, 100}), extents({50, 100}), 8, 4000), (array::Index{5, 100}));
  EXPECT_EQ(chunk_extents(extents({64, 64, 64}), extents({32, 32, 32}), 8, 32 * 32 * 4 * 8), (array::Index{4, 32, 32}));
  EXPECT_EQ(chunk_extents(extents({1000}), extents({7}), 8, 8000), (array::Index{994})) << "not a chunk of 7 elements";
  EXPECT_EQ(chunk_extents(extents({}), extents({}), 8, 8000), (array::Index{}));
  EXPECT_EQ(chunk_extents(extents({0, 5}), extents({0, 5}), 8, 8000), (array::Index{1, 5}));
  EXPECT_EQ(chunk_extents(extents({4, 5}), extents({4, 5}), 800, 100), (array::Index{1, 1}));
}

TEST(ChunksOfAnArray, AreEachTakenOnceHoweverItIsDivided) {
  array::AnyBoxes any(1);
  for (int round = 0; round < 500; ++round) {
    const array::Box whole = any.array(9);
    const std::uint64_t most = 1 + any.below(400);
    std::vector<array::Box> stored;
    for (const auto& boxes : any.division(whole, 1 + any.below(9)))
      for (const auto& box : boxes)
        if (!box.empty()) stored.push_back(box);
    const array::Index chunk = chunk_extents(whole, stored.front(), 4, most);
    std::uint64_t chunk_elements = 1;
    for (unsigned d = 0; d < whole.dimensions; ++d) {
      ASSERT_GE(chunk[d], 1U);
      ASSERT_LE(chunk[d], whole.end[d]);
      chunk_elements *= chunk[d];
    }
    EXPECT_LE(chunk_elements, std::max<std::uint64_t>(1, most / 4));
    const ChunkGrid grid(whole, chunk);
    std::set<array::Index> seen;
    std::uint64_t elements = 0;
    for (const auto& box : stored)
      ASSERT_TRUE(grid.each_in(box, [&](const array::Box& one) -> base::Status {
        EXPECT_TRUE(seen.insert(one.begin).second);
        EXPECT_TRUE(whole.contains(one));
        elements += one.elements();
        return {};
      }));
    EXPECT_EQ(elements, whole.elements());
    EXPECT_EQ(seen.size(), grid.chunks());
  }
}

}  // namespace
}  // namespace perdure::portable
