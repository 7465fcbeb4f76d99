// Regions whose memory was unmapped are named before they are touched.
#include "client/mapped_regions.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <algorithm>

namespace perdure::client {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPage = 4096;

/// Pages of this test alone, of which any may be given back.
class OwnPages {
 public:
  explicit OwnPages(std::size_t count) : bytes_(count * kPage) {
    memory_ =
        static_cast<std::byte*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  OwnPages(const OwnPages&) = delete;
  OwnPages& operator=(const OwnPages&) = delete;
  ~OwnPages() { ::munmap(memory_, bytes_); }
  std::byte* at(std::size_t page) const { return memory_ + page * kPage; }
  void free(std::size_t page) const { ::munmap(at(page), kPage); }

 private:
  std::byte* memory_;
  std::size_t bytes_;
};

void expect_names(const base::Status& gone, const std::string& text) {
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_THAT(gone.error().text(), HasSubstr(text + ", is not there any more"));
}

TEST(MappedRegions, ThatWereUnmappedAreNamed) {
  constexpr std::size_t kBytes = 1 << 20;
  const OwnPages pages(kBytes / kPage);
  std::vector<std::byte> other(kBytes);
  capture::RegionTable table;
  ASSERT_TRUE(table.protect({1, other.data(), 1, other.size()}));
  ASSERT_TRUE(table.protect({2, pages.at(0), 1, kBytes}));
  EXPECT_TRUE(check_mapped(table, MemoryUse::capture));
  pages.free(kBytes / kPage / 2);
  expect_names(check_mapped(table, MemoryUse::capture), "region 2: its memory, 1.0 MiB");
  const std::int32_t first = 1, both[] = {1, 2, 77};
  EXPECT_TRUE(check_mapped(table, MemoryUse::fill, std::span(&first, 1)))
      << "a restore of the other one does not need it";
  EXPECT_FALSE(check_mapped(table, MemoryUse::fill, both));
  ASSERT_TRUE(table.unprotect(2));
  EXPECT_TRUE(check_mapped(table, MemoryUse::capture));
}

TEST(MappedRegions, OfFewBytesAreNamedAmongManyOthers) {
  constexpr std::int32_t kRegions = 400;
  const OwnPages pages(kRegions);
  double on_the_stack = 0;
  std::vector<double> on_the_heap(3);
  std::vector<std::int32_t> turned(kRegions);  // their order is not that of their addresses
  for (std::int32_t i = 0; i < kRegions; ++i) turned[static_cast<std::size_t>(i)] = i * 7 % kRegions;
  capture::RegionTable table;
  for (std::int32_t id = 0; id < kRegions; ++id) {
    const auto page = static_cast<std::size_t>(turned[static_cast<std::size_t>(id)]);
    if (page % 2 != 0) continue;
    ASSERT_TRUE(table.protect({id, pages.at(page) + 4080, 8, 2}));
  }
  ASSERT_TRUE(table.protect({1000, reinterpret_cast<std::byte*>(&on_the_stack), 8, 1}));
  ASSERT_TRUE(table.protect({1001, reinterpret_cast<std::byte*>(on_the_heap.data()), 8, 3}));
  ASSERT_TRUE(table.protect({1002, nullptr, 8, 0}));
  EXPECT_TRUE(check_mapped(table, MemoryUse::capture));
  for (std::size_t page = 1; page < kRegions; page += 26) pages.free(page);
  EXPECT_TRUE(check_mapped(table, MemoryUse::capture)) << "what is between them may be missing";
  pages.free(198);
  const auto id = std::find(turned.begin(), turned.end(), 198) - turned.begin();
  expect_names(check_mapped(table, MemoryUse::capture), "region " + std::to_string(id) + ": its memory, 16 B");
  expect_names(check_mapped(*table.find(static_cast<std::int32_t>(id)), MemoryUse::fill), "its memory, 16 B");
  EXPECT_TRUE(check_mapped(*table.find(1000), MemoryUse::fill));
}

/// `count` rows of two doubles, each at the end of a page, of a column of more rows.
capture::Region rows_at(const OwnPages& pages, std::size_t count, const capture::Ghosts& ghosts = {}) {
  const std::uint64_t extents[2] = {100, 2};
  segment::ArrayEntry field{{"field", "", ""}, array::ElementType::parse("f8", "test").value(), {}, {}, {}};
  field.whole = array::whole(extents, 8, "test").value();
  capture::OwnedBox owned{field.whole, pages.at(1) + 4080, array::Strides{static_cast<std::int64_t>(kPage), 8}};
  owned.box.begin[0] = 1;
  owned.box.end[0] = 1 + count;
  return capture::region_of(capture::ArrayPart::make(5, field, ghosts, {owned}, true).value());
}

TEST(MappedRegions, OfArraysNeedTheirRowsOnly) {
  const OwnPages pages(42);
  const auto part = rows_at(pages, 40);
  EXPECT_TRUE(check_mapped(part, MemoryUse::capture));
  pages.free(0);
  pages.free(41);
  EXPECT_TRUE(check_mapped(part, MemoryUse::capture)) << "they are around it";
  pages.free(20);
  expect_names(check_mapped(part, MemoryUse::capture), "region 5 'field': its memory, 640 B");
}

TEST(MappedRegions, OfArraysMayHaveGapsThatAreNotThere) {
  const OwnPages pages(43);
  const std::uint64_t extents[1] = {20};
  segment::ArrayEntry field{{"line", "", ""}, array::ElementType::parse("f8", "test").value(), {}, {}, {}};
  field.whole = array::whole(extents, 8, "test").value();
  for (const bool backwards : {false, true}) {
    const std::int64_t stride =
        backwards ? -2 * static_cast<std::int64_t>(kPage) : 2 * static_cast<std::int64_t>(kPage);
    const capture::OwnedBox owned{field.whole, pages.at(backwards ? 40 : 2) + 8, array::Strides{stride}};
    const auto part = capture::region_of(capture::ArrayPart::make(5, field, {}, {owned}, true).value());
    EXPECT_TRUE(check_mapped(part, MemoryUse::capture)) << "so far";
    for (std::size_t page = 3; page < 41; page += 2) pages.free(page);
    EXPECT_TRUE(check_mapped(part, MemoryUse::capture));
    if (backwards) pages.free(22);
    EXPECT_EQ(check_mapped(part, MemoryUse::capture).has_value(), !backwards);
  }
}

TEST(MappedRegions, WhoseGhostsAreFilledNeedThese) {
  const OwnPages pages(42);
  capture::Ghosts filled{{1, 0}, true};
  const auto with = rows_at(pages, 40, filled);
  filled.fill = false;
  const auto without = rows_at(pages, 40, filled);
  EXPECT_TRUE(check_mapped(with, MemoryUse::fill));
  pages.free(41);
  EXPECT_FALSE(check_mapped(with, MemoryUse::fill));
  EXPECT_TRUE(check_mapped(with, MemoryUse::capture));
  EXPECT_TRUE(check_mapped(without, MemoryUse::fill));
}

}  // namespace
}  // namespace perdure::client
