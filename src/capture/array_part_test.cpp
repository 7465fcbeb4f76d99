// Checks parts of arrays in captures and restores, element by element.
#include "capture/array_part.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "array/any_boxes_testing.hpp"
#include "capture/memory.hpp"

namespace perdure::capture {
namespace {

segment::ArrayEntry array_with(const array::Box& whole, const std::string& type = "i4") {
  return {{"field", "", ""}, array::ElementType::parse(type, "test").value(), segment::ArrayKind::global, whole, {}};
}

/// One rank's boxes of an array, each in memory of its own, in any layout; `i4` elements hold their number in the
/// array.
class AnyPart {
 public:
  AnyPart(array::AnyBoxes& any, const array::Box& whole, const std::vector<array::Box>& boxes) : whole_(whole) {
    std::size_t reserved = 0;
    for (const auto& box : boxes) {
      if (box.empty()) continue;
      std::uint64_t bytes = 0;
      const auto lies = any.strided(box, 4, bytes);
      lies_.push_back(lies);
      at_.push_back(reserved);
      reserved += bytes + 64;
    }
    memory_.resize(reserved + 1, std::byte{0x77});
    std::vector<OwnedBox> owned;
    for (std::size_t i = 0; i < lies_.size(); ++i)
      owned.push_back({lies_[i].box, memory_.data() + at_[i] + lies_[i].offset, lies_[i].strides});
    part_ = ArrayPart::make(3, array_with(whole), {}, owned, true).value();
  }
  std::int32_t number(const array::Index& index) const {
    std::int32_t number = 0;
    for (unsigned d = 0; d < whole_.dimensions; ++d)
      number = number * static_cast<std::int32_t>(whole_.extent(d)) + static_cast<std::int32_t>(index[d]);
    return number + 1;
  }
  template <class Use>  // use(address of the element, its number)
  void each(Use use) {
    for (std::size_t i = 0; i < lies_.size(); ++i)
      array::each_element(lies_[i].box, [&](const array::Index& index) {
        use(memory_.data() + at_[i] + lies_[i].at(index), number(index));
      });
  }
  void fill() {
    each([](std::byte* at, std::int32_t number) { std::memcpy(at, &number, 4); });
  }
  void clear() { std::fill(memory_.begin(), memory_.end(), std::byte{0x77}); }
  std::size_t foreign_bytes() {  // that have changed
    std::vector<std::byte> left = memory_;
    each([&](std::byte* at, std::int32_t) { std::memset(left.data() + (at - memory_.data()), 0x77, 4); });
    return static_cast<std::size_t>(
        std::count_if(left.begin(), left.end(), [](auto b) { return b != std::byte{0x77}; }));
  }
  const std::shared_ptr<const ArrayPart>& part() const { return part_; }

 private:
  array::Box whole_;
  std::vector<array::Strided> lies_;
  std::vector<std::size_t> at_;
  std::vector<std::byte> memory_;
  std::shared_ptr<const ArrayPart> part_;
};

TEST(ArrayParts, AreCapturedPackedAndComeBackWhereTheyWere) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    array::AnyBoxes any(seed);
    const auto whole = any.array(seed % 10 == 0 ? 300 : 9);
    if (whole.elements() > 200'000) continue;
    const auto division = any.division(whole, 1 + any.below(6));
    AnyPart mine(any, whole, division[any.below(division.size())]);
    mine.fill();
    std::vector<std::uint64_t> before(any.below(40)), behind(any.below(40));
    RegionTable table;
    ASSERT_TRUE(table.protect({1, reinterpret_cast<std::byte*>(before.data()), 8, before.size()}));
    ASSERT_TRUE(table.protect(region_of(mine.part())));
    ASSERT_TRUE(table.protect({9, reinterpret_cast<std::byte*>(behind.data()), 8, behind.size()}));
    MemorySource source(table);
    const auto described = source.describe().value();
    ASSERT_EQ(described.bytes, table.bytes());
    std::vector<std::byte> captured;
    const auto chunks = Source::cut(described, 1 + any.below(999));
    for (const auto& chunk : chunks) {
      const std::size_t begun = captured.size();
      ASSERT_TRUE(source.read(chunk, [&](base::ConstByteSpan bytes) -> base::Status {
        captured.insert(captured.end(), bytes.begin(), bytes.end());
        return {};
      }));
      ASSERT_EQ(captured.size() - begun, chunk.length);
    }
    std::size_t at = before.size() * 8;
    for (const auto& box : mine.part()->array().boxes)
      array::each_element(box, [&](const array::Index& index) {
        std::int32_t number = 0;
        std::memcpy(&number, captured.data() + at, 4);
        ASSERT_EQ(number, mine.number(index)) << seed;
        at += 4;
      });
    ASSERT_EQ(at, captured.size() - behind.size() * 8);
    mine.clear();
    MemoryTarget target(table, std::nullopt);
    const auto needed = target.accept(described.entries).value();
    EXPECT_TRUE(target.elsewhere().empty());
    for (const auto& chunk : chunks) {
      const base::ConstByteSpan bytes(captured.data() + chunk.begin, chunk.length);
      const auto spans = target.memory(chunk);
      std::uint64_t done = 0;
      for (const auto& span : spans) std::memcpy(span.address, bytes.data() + done, span.length), done += span.length;
      if (!spans.empty()) continue;
      ASSERT_TRUE(target.write(chunk, bytes));
    }
    mine.each([&](const std::byte* element, std::int32_t expected) {
      std::int32_t number = 0;
      std::memcpy(&number, element, 4);
      ASSERT_EQ(number, expected) << seed;
    });
    EXPECT_EQ(mine.foreign_bytes(), 0U) << seed;
  }
}

array::Box box_of(std::vector<std::pair<std::uint64_t, std::uint64_t>> sides) {
  array::Box box;
  for (const auto& [begin, end] : sides) box.begin[box.dimensions] = begin, box.end[box.dimensions++] = end;
  return box;
}

TEST(ArrayParts, HaveTheirGhostsAroundThem) {
  std::vector<std::int32_t> memory(6 * 12);
  const auto part =
      ArrayPart::make(3, array_with(box_of({{0, 100}, {0, 50}})), {{1, 2}, true},
                      {{box_of({{10, 14}, {20, 28}}), reinterpret_cast<std::byte*>(&memory[12 + 2])}}, true)
          .value();
  EXPECT_EQ(part->memory().front().strides[0], 12 * 4);
  EXPECT_EQ(part->memory().front().strides[1], 4);
  EXPECT_EQ(part->stored().count, 32U);
  EXPECT_EQ(part->dense_bytes(), 0U);
  ASSERT_EQ(part->wanted().size(), 1U);
  EXPECT_EQ(part->wanted().front().box, box_of({{9, 15}, {18, 30}}));
  EXPECT_EQ(part->address() + part->wanted().front().offset, reinterpret_cast<std::byte*>(memory.data()));
}

TEST(ArrayParts, ThatCannotBeAreRefused) {
  std::vector<std::byte> memory(4096);
  const auto whole = box_of({{0, 10}, {0, 10}});
  const auto code = [&](std::vector<OwnedBox> owned, const array::Index& ghosts = {}) {
    const auto made = ArrayPart::make(3, array_with(whole), {ghosts}, owned, true);
    if (made) return PERDURE_OK;
    EXPECT_EQ(made.error().object, "region 3 'field'");
    return made.error().code;
  };
  EXPECT_EQ(code({}), PERDURE_OK);
  EXPECT_EQ(code({{box_of({{0, 10}, {0, 10}}), memory.data()}}), PERDURE_OK);
  EXPECT_EQ(code({{box_of({{0, 10}, {0, 11}}), memory.data()}}), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(code({{box_of({{0, 10}}), memory.data()}}), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(code({{box_of({{3, 3}, {0, 10}}), memory.data()}}), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(code({{box_of({{5, 3}, {0, 10}}), memory.data()}}), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(code({{box_of({{0, 10}, {0, 10}}), nullptr}}), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(code({{box_of({{0, 10}, {0, 10}}), memory.data()}}, {1ULL << 63, 1}), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(code({{box_of({{0, 10}, {0, 10}}), memory.data(), array::Strides{1LL << 62, 4}}}),
            PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(code({{box_of({{0, 10}, {0, 10}}), memory.data(), array::Strides{-(1LL << 59), 4}}}),
            PERDURE_INVALID_ARGUMENT);
}

TEST(ArrayParts, OfListsGetTheirPlaceAmongThoseOfAllRanks) {
  std::vector<std::int32_t> rows(30);
  segment::ArrayEntry list = array_with(box_of({{0, 10}, {0, 3}}));
  list.kind = segment::ArrayKind::list;
  const auto part =
      ArrayPart::make(3, list, {}, {{list.whole, reinterpret_cast<std::byte*>(rows.data())}}, true).value();
  const auto placed = part->place(100, 500).value();
  EXPECT_EQ(placed->array().whole, box_of({{0, 500}, {0, 3}}));
  EXPECT_EQ(placed->array().boxes, (std::vector<array::Box>{box_of({{100, 110}, {0, 3}})}));
  EXPECT_EQ(segment::array_of(placed->stored(), "test").value().boxes, placed->array().boxes);
  EXPECT_EQ(placed->place(100, 1ULL << 60).error().code, PERDURE_INVALID_ARGUMENT) << "3 * 4 * 2^60 bytes";
}

TEST(ArrayParts, InOneTableMayLieWithinEachOtherButNotOverMemoryWithoutGaps) {
  std::vector<double> memory(40);
  auto* at = reinterpret_cast<std::byte*>(memory.data());
  const auto whole = box_of({{0, 20}});
  const auto every_other = [&](std::int32_t id, std::byte* first) {
    return region_of(
        ArrayPart::make(id, array_with(whole, "f8"), {}, {{whole, first, array::Strides{16}}}, true).value());
  };
  RegionTable table;
  EXPECT_FALSE(table.has_parts());
  EXPECT_TRUE(table.protect(every_other(1, at)));
  EXPECT_TRUE(table.protect(every_other(1, at))) << "anew";
  EXPECT_TRUE(table.unprotect(1));
  EXPECT_FALSE(table.has_parts());
  EXPECT_TRUE(table.protect(every_other(1, at)));
  EXPECT_TRUE(table.has_parts());
  EXPECT_TRUE(table.protect(every_other(2, at + 8)));
  EXPECT_TRUE(table.protect({3, at, 8, 4})) << "boxes with gaps are not looked at";
  const auto dense = ArrayPart::make(4, array_with(whole, "f8"), {}, {{whole, at}}, true).value();
  EXPECT_FALSE(table.protect(region_of(dense)));
  EXPECT_TRUE(table.unprotect(3));
  EXPECT_TRUE(table.protect(region_of(dense)));
  EXPECT_EQ(table.arrays_changed(), 6U);
}

TEST(Labels, OfRegionsStayWithThem) {
  std::vector<double> memory(40);
  RegionTable table;
  EXPECT_EQ(table.set_label(1, {"time", "s", ""}).error().code, PERDURE_NOT_FOUND);
  ASSERT_TRUE(table.protect({1, reinterpret_cast<std::byte*>(memory.data()), 8, 4}));
  ASSERT_TRUE(table.set_label(1, {"time", "s", ""}));
  ASSERT_TRUE(table.protect({1, reinterpret_cast<std::byte*>(memory.data()), 8, 5}));
  EXPECT_EQ(segment::region_text(table.entries().front()), "region 1 'time'");
  EXPECT_EQ(table.set_label(1, {"not a name", "", ""}).error().code, PERDURE_INVALID_ARGUMENT);
  ASSERT_TRUE(table.set_label(1, {}));
  EXPECT_TRUE(table.entries().front().plain());
}

TEST(Targets, LeaveOutArraysOfWhichOtherBoxesAreStored) {
  std::vector<double> memory(40);
  auto* at = reinterpret_cast<std::byte*>(memory.data());
  const auto stored = [&](std::uint64_t begin, std::uint64_t end, const std::string& type) {
    auto array = array_with(box_of({{0, 20}}), type);
    array.boxes = {box_of({{begin, end}})};
    return std::vector<segment::RegionEntry>{segment::entry_of(3, array).value()};
  };
  RegionTable table;
  ASSERT_TRUE(table.protect(
      region_of(ArrayPart::make(3, array_with(box_of({{0, 20}}), "f8"), {}, {{box_of({{5, 9}}), at}}, true).value())));
  MemoryTarget target(table, std::nullopt);
  EXPECT_EQ(target.accept(stored(5, 9, "f8")).value().size(), 1U);
  EXPECT_TRUE(target.elsewhere().empty());
  EXPECT_TRUE(target.accept(stored(5, 10, "f8")).value().empty());
  EXPECT_EQ(target.elsewhere(), std::vector<std::int32_t>{3});
  const auto other = target.accept(stored(5, 9, "i8"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, PERDURE_MISMATCH);
  EXPECT_NE(other.error().cause.find("region 3 'field': its element type was stored as i8, and is protected as f8"),
            std::string::npos)
      << other.error().cause;
  EXPECT_EQ(target.accept({{3, 8, 4}}).error().code, PERDURE_MISMATCH) << "memory of a rank";
}

}  // namespace
}  // namespace perdure::capture
