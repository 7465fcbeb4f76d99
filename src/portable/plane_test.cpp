// Planes are parsed, and sampled for a picture.
#include "portable/plane.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reader/written_testing.hpp"

namespace perdure::portable {
namespace {

array::Box whole_of(std::initializer_list<std::uint64_t> extents) {
  array::Box box;
  for (const std::uint64_t extent : extents) box.end[box.dimensions++] = extent;
  return box;
}

std::string parsed(const std::string& text, const array::Box& whole) {
  const auto plane = parse_plane(text, whole, "t");
  return plane ? plane->text() : base::code_name(plane.error().code) + std::string(": ") + plane.error().cause;
}

TEST(Planes, AreWrittenAsIndicesAndRanges) {
  const auto cube = whole_of({4, 6, 8});
  EXPECT_EQ(parsed("[3,:,:]", cube), "[3, 0:6, 0:8]");
  EXPECT_EQ(parsed("[ 0:2, 5, 1: ]", cube), "[0:2, 5, 1:8]");
  EXPECT_EQ(parsed("[:,5,:3]", cube), "[0:4, 5, 0:3]");
  EXPECT_EQ(parsed("[1,2,:]", cube), "[1, 2, 0:8]");
  EXPECT_EQ(parsed("", cube), "[2, 0:6, 0:8]");
  EXPECT_EQ(parsed("", whole_of({9})), "[0:9]");
  EXPECT_EQ(split_plane("t.x[1,:]"), std::pair(std::string("t.x"), std::string("[1,:]")));
  EXPECT_EQ(split_plane("t"), std::pair(std::string("t"), std::string()));
}

TEST(Planes, ThatAreNoneAreRefused) {
  const auto cube = whole_of({4, 6, 8});
  for (const char* text :
       {"[", "]", "[]", "[1]", "[1,2,3]", "[:,:,:]", "[4,:,:]", "[-1,:,:]", "[0:5,1,:]", "[2:2,1,:]", "[3:2,1,:]",
        "[a,:,:]", "[1,:,:,:]", "[1,:,:]x", "(1,:,:)", "[99999999999999999999,:,:]", "[1.5,:,:]"})
    EXPECT_THAT(parsed(text, cube), testing::StartsWith("invalid-argument: ")) << text;
  EXPECT_THAT(parsed("", whole_of({})), testing::HasSubstr("there is nothing to see"));
  EXPECT_THAT(parsed("", whole_of({3, 0})), testing::HasSubstr("there is nothing to see"));
}

TEST(SampledPlanes, AreMeansOfWhatSharesANumber) {
  reader::WrittenStore store;
  std::vector<reader::WrittenRank> ranks(2);
  for (std::uint64_t r = 0; r < 2; ++r) {
    segment::ArrayEntry entry{
        {"t", "", ""}, array::ElementType::parse("{n:i4,z:2c16}", "").value(), {}, whole_of({4, 6}), {}};
    entry.boxes = {whole_of({2 * r + 2, 6})};
    entry.boxes[0].begin[0] = 2 * r;
    std::vector<std::byte> bytes;
    for (std::int32_t i = 0; i < 12; ++i) {
      const std::int32_t n = static_cast<std::int32_t>(12 * r) + i;
      const double z[4] = {3.0 * n, 4.0 * n, std::nan(""), 0};
      const auto* begin = reinterpret_cast<const std::byte*>(&n);
      bytes.insert(bytes.end(), begin, begin + 4);
      bytes.insert(bytes.end(), reinterpret_cast<const std::byte*>(z), reinterpret_cast<const std::byte*>(z + 4));
    }
    ranks[r].add(segment::entry_of(1, entry).value(), bytes);
    ranks[r].cut(100);
  }
  store.write({"heat", 1, {5, 5}}, ranks, 1);
  auto content = store.open("heat").value();
  const auto set = choose(content, {"t"}).value().at(0);
  const auto n = find_member(set.type, "", "t").value(), z = find_member(set.type, "z", "t").value();
  EXPECT_EQ(n.name, "n");
  EXPECT_EQ(find_member(set.type, "q", "t").error().code, PERDURE_NOT_FOUND);
  const auto row = sample(content, set, n, parse_plane("[2,:]", set.whole, "t").value(), 100, 100).value();
  EXPECT_EQ(row.values, (std::vector<double>{12, 13, 14, 15, 16, 17}));
  const auto column = sample(content, set, z, parse_plane("[:,1]", set.whole, "t").value(), 100, 100).value();
  EXPECT_EQ(column.values, (std::vector<double>{5, 35, 65, 95}));
  const auto small = sample(content, set, n, parse_plane("", set.whole, "t").value(), 3, 2).value();
  EXPECT_EQ(small.width, 3U);
  EXPECT_EQ(small.values, (std::vector<double>{3.5, 5.5, 7.5, 15.5, 17.5, 19.5}));
}

}  // namespace
}  // namespace perdure::portable
