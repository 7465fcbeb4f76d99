#include "segment/array_entry.hpp"

#include <gtest/gtest.h>

#include "array/any_boxes_testing.hpp"
#include "segment/entry_codec.hpp"

namespace perdure::segment {
namespace {

ArrayEntry temperature() {
  ArrayEntry array{
      {"temperature", "K", "of the plate"}, array::ElementType::parse("f8", "test").value(), ArrayKind::global, {}, {}};
  array.whole.dimensions = 2;
  array.whole.end = {100, 60};
  array::Box box = array.whole;
  box.begin = {20, 0};
  box.end = {40, 60};
  array.boxes = {box};
  return array;
}

TEST(ArrayEntries, ComeBackAsTheyWere) {
  const auto entry = entry_of(7, temperature()).value();
  EXPECT_EQ(entry.bytes(), 20U * 60 * 8);
  EXPECT_EQ(entry.kind, EntryKind::array);
  EXPECT_TRUE(check_attributes(entry));
  EXPECT_EQ(array_of(entry, "test").value(), temperature());
  EXPECT_EQ(region_text(entry), "region 7 'temperature'");
  auto nothing = temperature();
  nothing.boxes.clear();
  nothing.label = {};
  nothing.kind = ArrayKind::list;
  EXPECT_EQ(array_of(entry_of(7, nothing).value(), "test").value(), nothing);
}

TEST(ArrayEntries, WithBoxesInSeveralAttributesComeBack) {
  auto array = temperature();
  array.whole.end = {1ULL << 36, 1ULL << 20};
  array.boxes.clear();
  array::AnyBoxes any(1);
  for (int i = 0; i < 1000; ++i) array.boxes.push_back(any.part(array.whole));
  for (auto& box : array.boxes) box.end[0] = box.begin[0] + 1, box.end[1] = box.begin[1] + 1;
  const auto entry = entry_of(7, array).value();
  EXPECT_TRUE(entry.attributes.map().contains("boxes.2"));
  EXPECT_TRUE(check_attributes(entry));
  EXPECT_EQ(array_of(entry, "test").value(), array);
  while (array.boxes.size() < 60'000) array.boxes.push_back(array.boxes[array.boxes.size() - 1000]);
  EXPECT_EQ(entry_of(7, array).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST(ArrayEntries, ThatContradictThemselvesAreCorrupt) {
  const auto good = entry_of(7, temperature()).value();
  const auto code = [&](const auto& change) {
    RegionEntry entry = good;
    change(entry);
    const auto read = array_of(entry, "segment s");
    return read ? PERDURE_OK : read.error().code;
  };
  EXPECT_EQ(code([](auto&) {}), PERDURE_OK);
  EXPECT_EQ(code([](auto& e) { e.kind = EntryKind::memory; }), PERDURE_CORRUPT);
  EXPECT_EQ(code([](auto& e) { e.count += 1; }), PERDURE_CORRUPT);
  EXPECT_EQ(code([](auto& e) { e.element_bytes = 4; }), PERDURE_CORRUPT);
  EXPECT_EQ(code([](auto& e) { e.attributes["type"] = std::string("f9"); }), PERDURE_CORRUPT);
  EXPECT_EQ(code([](auto& e) { e.attributes["type"] = true; }), PERDURE_CORRUPT);
  EXPECT_EQ(code([](auto& e) { e.attributes["array"] = std::int64_t{-1}; }), PERDURE_CORRUPT);
  EXPECT_EQ(code([](auto& e) { e.attributes["array"] = std::int64_t{3}; }), PERDURE_UNSUPPORTED);
  EXPECT_EQ(code([](auto& e) { e.attributes["extents"] = std::vector<std::int64_t>{100, -60}; }), PERDURE_CORRUPT);
  EXPECT_EQ(code([](auto& e) { e.attributes["extents"] = std::vector<std::int64_t>{39, 60}; }), PERDURE_CORRUPT);
  EXPECT_EQ(code([](auto& e) { e.attributes["extents"] = std::vector<std::int64_t>{1LL << 61, 60}; }), PERDURE_CORRUPT);
  EXPECT_EQ(code([](auto& e) { e.attributes["extents"] = std::vector<std::int64_t>(9, 1); }), PERDURE_CORRUPT);
  EXPECT_EQ(code([](auto& e) { e.attributes["boxes.0"] = std::vector<std::byte>(1); }), PERDURE_CORRUPT);
  // Optional attributes may be wrong.
  EXPECT_EQ(code([](auto& e) { e.attributes["name"] = std::string("\x1b[31m"); }), PERDURE_OK);
  EXPECT_EQ(code([](auto& e) { e.attributes["unit"] = std::int64_t{3}; }), PERDURE_OK);
}

TEST(Labels, HaveNamesThatFilesAndCommandLinesCanCarry) {
  for (const char* name : {"t", "temperature", "T_2.old-1"}) EXPECT_TRUE(check_label({name, "", ""}, "test")) << name;
  for (const char* name : {"1t", "_t", "a b", "a/b", "a[0]", "\xc3\xa4"})
    EXPECT_FALSE(check_label({name, "", ""}, "test"));
  EXPECT_FALSE(check_label({std::string(65, 'a'), "", ""}, "test"));
  EXPECT_TRUE(check_label({"", "\xc2\xb0\x43", "any text"}, "test"));
  EXPECT_FALSE(check_label({"", "K\n", ""}, "test"));
  EXPECT_FALSE(check_label({"", "", std::string(1025, 'a')}, "test"));
}

}  // namespace
}  // namespace perdure::segment
