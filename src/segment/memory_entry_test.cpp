#include "segment/memory_entry.hpp"

#include <gtest/gtest.h>

namespace perdure::segment {
namespace {

Elements elements_said(const std::string& type, std::optional<std::vector<std::uint64_t>> extents = std::nullopt) {
  return {array::ElementType::parse(type, "test").value(), std::move(extents)};
}

TEST(MemoryEntry, KeepsWhatIsSaidOfItsElements) {
  const Elements said = elements_said("{position:3f8,id:i4,v4}", std::vector<std::uint64_t>{4, 5});
  RegionEntry entry{3, 32, 20};
  EXPECT_EQ(elements_of(entry), Elements{}) << "nothing was said";
  set_elements(entry, said);
  EXPECT_EQ(elements_of(entry), said);
  entry.kind = EntryKind::opaque;
  EXPECT_EQ(elements_of(entry), Elements{}) << "only its source knows";
}

TEST(MemoryEntry, LeavesOutWhatDoesNotDescribeItsBytes) {
  RegionEntry entry{3, 8, 20, EntryKind::memory, {{"type", std::string("f4")}}};
  EXPECT_EQ(elements_of(entry), Elements{});
  entry.attributes["type"] = std::string("no type");
  entry.attributes["extents"] = std::vector<std::int64_t>{4, 6};
  EXPECT_EQ(elements_of(entry), Elements{});
  entry.attributes["extents"] = std::vector<std::int64_t>{-4, -5};
  EXPECT_EQ(elements_of(entry), Elements{});
  entry.attributes["extents"] = std::vector<std::int64_t>{1LL << 62, 4, 20};
  EXPECT_EQ(elements_of(entry), Elements{}) << "a product that overflows";
  entry.attributes["type"] = std::string("f8");
  entry.attributes["extents"] = std::vector<std::int64_t>{4, 5};
  EXPECT_EQ(elements_of(entry), elements_said("f8", std::vector<std::uint64_t>{4, 5}));
}

TEST(MemoryEntry, IsRefusedWhereTypeOrExtentsAreOfAnotherSize) {
  const auto check = [](const Elements& elements) { return check_elements(elements, 8, 20, "region 3"); };
  EXPECT_TRUE(check({}));
  EXPECT_TRUE(check(elements_said("f8", std::vector<std::uint64_t>{4, 5})));
  const auto type = check(elements_said("f4"));
  ASSERT_FALSE(type);
  EXPECT_EQ(type.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_NE(type.error().cause.find("its type f4 has 4 bytes, its elements have 8"), std::string::npos);
  const auto extents = check(elements_said("f8", std::vector<std::uint64_t>{4, 6}));
  ASSERT_FALSE(extents);
  EXPECT_NE(extents.error().cause.find("4x6 are not those of its 20 elements"), std::string::npos);
  EXPECT_FALSE(check(elements_said("f8", std::vector<std::uint64_t>{})));
  EXPECT_FALSE(check(elements_said("f8", std::vector<std::uint64_t>{20, 1, 1, 1, 1, 1, 1, 1, 1})));
}

TEST(MemoryEntry, ForgetsWhatAnotherSizeMakesUntrue) {
  const Elements said = elements_said("f8", std::vector<std::uint64_t>{4, 5});
  EXPECT_EQ(still_true(said, 8, 20), said);
  EXPECT_EQ(still_true(said, 8, 21), elements_said("f8"));
  EXPECT_EQ(still_true(said, 4, 20), (Elements{std::nullopt, std::vector<std::uint64_t>{4, 5}}));
}

TEST(MemoryEntry, IsComparedOnlyWhereBothSidesKnow) {
  EXPECT_TRUE(of_other_type(elements_said("f8"), elements_said("i8")));
  EXPECT_FALSE(of_other_type(elements_said("f8"), elements_said("f8")));
  EXPECT_FALSE(of_other_type(elements_said("f8"), {}));
  EXPECT_FALSE(of_other_type(elements_said("v8"), elements_said("f8"))) << "bytes may be anything";
  const Elements wide = elements_said("f8", std::vector<std::uint64_t>{4, 5}),
                 high = elements_said("f8", std::vector<std::uint64_t>{5, 4});
  EXPECT_TRUE(of_other_shape(wide, high));
  EXPECT_FALSE(of_other_shape(wide, elements_said("f8")));
  EXPECT_EQ(extents_text({4, 5}), "4x5");
  EXPECT_EQ(extents_text({}), "scalar");
}

}  // namespace
}  // namespace perdure::segment
