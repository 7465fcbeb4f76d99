// Compares protected regions, and the cutting of captures, with a byte-by-byte reference.
#include "capture/region.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "capture/matching.hpp"

namespace perdure::capture {
namespace {

using segment::RegionEntry;

class Regions : public testing::Test {
 protected:
  std::byte* at(std::size_t offset) { return memory_.data() + offset; }
  base::Status protect(std::int32_t id, std::size_t offset, std::uint64_t element_bytes, std::uint64_t count) {
    return table_.protect({id, at(offset), element_bytes, count});
  }
  std::vector<std::byte> memory_ = std::vector<std::byte>(1 << 16);
  RegionTable table_;
};

TEST_F(Regions, AreKeptInTheOrderOfTheirIds) {
  ASSERT_TRUE(protect(5, 0, 8, 10));
  ASSERT_TRUE(protect(1, 100, 4, 3));
  EXPECT_EQ(table_.entries(), (std::vector<RegionEntry>{{1, 4, 3}, {5, 8, 10}}));
  EXPECT_EQ(table_.bytes(), 92U);
}

TEST_F(Regions, ProtectingAnIdAgainReplacesIt) {
  ASSERT_TRUE(protect(1, 0, 8, 10));
  ASSERT_TRUE(protect(1, 8, 8, 20));  // overlaps its old self: that is gone
  EXPECT_EQ(table_.bytes(), 160U);
  EXPECT_EQ(table_.find(1)->address, at(8));
}

TEST_F(Regions, OverlapsAreRefusedAndNeighboursAreNot) {
  ASSERT_TRUE(protect(1, 100, 1, 100));
  for (std::size_t offset : {1U, 50U, 100U, 150U, 199U}) EXPECT_FALSE(protect(2, offset, 1, 100)) << offset;
  EXPECT_FALSE(protect(2, 0, 1, 1000)) << "around it";
  EXPECT_FALSE(protect(2, 120, 1, 10)) << "in it";
  EXPECT_EQ(table_.regions().size(), 1U);
  EXPECT_TRUE(protect(2, 0, 1, 100));
  EXPECT_TRUE(protect(3, 200, 1, 100));
  auto refused = protect(4, 150, 1, 1);
  EXPECT_NE(refused.error().text().find("region 1"), std::string::npos) << refused.error().text();
}

TEST_F(Regions, OfNoElementsNeedNoAddressAndOverlapNothing) {
  EXPECT_TRUE(table_.protect({1, nullptr, 8, 0}));
  EXPECT_TRUE(protect(2, 0, 1, 100));
  EXPECT_TRUE(protect(3, 50, 1, 0));
  EXPECT_EQ(table_.bytes(), 100U);
}

TEST_F(Regions, ThatCannotBeAreRefused) {
  EXPECT_EQ(protect(-1, 0, 8, 1).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(protect(1, 0, 0, 1).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(table_.protect({1, nullptr, 8, 1}).error().code, PERDURE_INVALID_ARGUMENT);
  const auto minus_one = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t count : {minus_one, minus_one / 8, minus_one / 2, std::uint64_t{1} << 61})
    EXPECT_EQ(protect(1, 0, 8, count).error().code, PERDURE_INVALID_ARGUMENT) << count;
  EXPECT_EQ(protect(1, 0, minus_one, 2).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_TRUE(table_.regions().empty());
}

// Two regions that each fit, but not together: the capture would have no size.
TEST_F(Regions, WhoseSumHasNoSizeAreRefused) {
  ASSERT_TRUE(table_.protect({1, reinterpret_cast<std::byte*>(4096), 1, (1ULL << 62)}));
  EXPECT_FALSE(table_.protect({2, reinterpret_cast<std::byte*>((1ULL << 62) + 4096), 1, 1ULL << 62}));
}

// At the end of the address space address + bytes wraps around.
TEST_F(Regions, ThatReachBeyondTheAddressSpaceAreRefused) {
  auto* last = reinterpret_cast<std::byte*>(~std::uintptr_t{0} - 99);
  EXPECT_FALSE(table_.protect({1, last, 1, 1000}));
}

TEST_F(Regions, UnprotectForgetsAndAnUnknownIdIsNotFound) {
  ASSERT_TRUE(protect(1, 0, 8, 1));
  EXPECT_TRUE(table_.unprotect(1));
  EXPECT_EQ(table_.bytes(), 0U);
  EXPECT_TRUE(protect(2, 0, 8, 1)) << "its memory is free again";
  EXPECT_EQ(table_.unprotect(1).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(table_.find(1), nullptr);
}

// Compares with all pairs: refusals, the sum, and that a refusal changes nothing.
TEST(RandomRegions, AreJudgedAsIfEachWereComparedWithAllOthers) {
  std::vector<std::byte> memory(300);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    RegionTable table;
    std::map<std::int32_t, Region> expected;
    for (int step = 0; step < 60; ++step) {
      const auto id = static_cast<std::int32_t>(random() % 12);
      if (random() % 4 == 0) {
        EXPECT_EQ(table.unprotect(id).has_value(), expected.erase(id) == 1) << "seed " << seed;
      } else {
        const Region region{id, memory.data() + random() % 250, 1 + random() % 5, random() % 10};
        const bool free = std::none_of(expected.begin(), expected.end(), [&](const auto& entry) {
          const Region& other = entry.second;
          return other.id != id && region.bytes() > 0 && other.bytes() > 0 &&
                 region.address < other.address + other.bytes() && other.address < region.address + region.bytes();
        });
        ASSERT_EQ(table.protect(region).has_value(), free) << "seed " << seed << " step " << step;
        if (free) expected[id] = region;
      }
      std::uint64_t bytes = 0;
      for (const auto& [key, region] : expected) bytes += region.bytes();
      ASSERT_EQ(table.bytes(), bytes) << "seed " << seed << " step " << step;
      ASSERT_EQ(table.regions().size(), expected.size()) << "seed " << seed << " step " << step;
    }
  }
}

TEST_F(Regions, MoveAllAtOnceOrNotAtAll) {
  ASSERT_TRUE(protect(1, 0, 1, 100));
  ASSERT_TRUE(protect(2, 100, 1, 100));
  ASSERT_TRUE(protect(3, 200, 1, 100));
  ASSERT_TRUE(table_.move({{1, at(100), 1, 100}, {2, at(0), 1, 100}}));
  EXPECT_EQ(table_.find(1)->address, at(100));
  EXPECT_EQ(table_.find(2)->address, at(0));
  const auto overlaps = table_.move({{1, at(0), 1, 100}, {2, at(150), 1, 100}});
  ASSERT_FALSE(overlaps);
  EXPECT_EQ(overlaps.error().text().find("region 2: its memory overlaps region 3"), 0U) << overlaps.error().text();
  EXPECT_FALSE(table_.move({{1, at(1000), 1, 100}, {2, at(1050), 1, 100}})) << "of each other";
  EXPECT_FALSE(table_.move({{1, nullptr, 1, 100}}));
  EXPECT_EQ(table_.find(1)->address, at(100)) << "nothing has changed";
  EXPECT_EQ(table_.overlapped_by({7, at(150), 1, 10}), 1);
  EXPECT_EQ(table_.bytes(), 300U);
  ASSERT_TRUE(table_.move({{1, at(100), 1, 0}, {3, at(100), 1, 50}}));
  EXPECT_EQ(table_.bytes(), 150U);
  EXPECT_EQ(table_.overlapped_by({7, at(149), 1, 100}), 3);
  EXPECT_EQ(table_.overlapped_by({7, at(150), 1, 100}), std::nullopt);
  EXPECT_EQ(table_.overlapped_by({7, nullptr, 1, 100}), std::nullopt) << "that is no memory";
}

TEST_F(Regions, LeaveTheirMemoryToOthersUntilTheyMove) {
  ASSERT_TRUE(protect(1, 0, 1, 100));
  table_.leave_memory(1);
  table_.leave_memory(2);  // there is none
  ASSERT_TRUE(protect(2, 0, 1, 50));
  EXPECT_EQ(table_.bytes(), 150U);
  EXPECT_FALSE(table_.move({{1, at(0), 1, 100}})) << "it is another's by now";
  ASSERT_TRUE(table_.move({{1, at(50), 1, 100}}));
  table_.leave_memory(1);
  ASSERT_TRUE(protect(3, 50, 1, 100));
  ASSERT_TRUE(table_.unprotect(1));
  EXPECT_EQ(table_.overlapped_by({7, at(50), 1, 1}), 3) << "who left it took nothing along";
}

/// An address that counts comparisons.
struct CountedAddress {
  std::uint64_t at = 0;
  static inline std::uint64_t comparisons = 0;
  friend bool operator<(const CountedAddress& a, const CountedAddress& b) { return ++comparisons, a.at < b.at; }
};

// Twice as many regions take a little more than twice as many comparisons, in any order.
TEST(AddressOrder, ComparesWithTheLogarithmOfTheRegionsThere) {
  const auto comparisons_of = [](std::uint64_t regions, std::uint64_t stride) {
    AddressOrder<CountedAddress> order;
    CountedAddress::comparisons = 0;
    for (std::uint64_t i = 0; i < regions; ++i) {
      const std::uint64_t at = i * stride % regions * 100;  // the stride has no common factor with a power of two
      EXPECT_EQ(order.overlapping({at}, {at + 100}, -1), std::nullopt);
      order.add({at}, {at + 100}, static_cast<std::int32_t>(i));
    }
    for (std::uint64_t i = 0; i < regions; ++i)
      EXPECT_NE(order.overlapping({i * 100 + 99}, {i * 100 + 100}, -1), std::nullopt);
    for (std::uint64_t i = 0; i < regions; ++i) order.remove({i * 100}, static_cast<std::int32_t>(i));
    return CountedAddress::comparisons;
  };
  for (const std::uint64_t stride : {1U, 7919U}) {
    const std::uint64_t few = comparisons_of(1 << 12, stride), many = comparisons_of(1 << 13, stride);
    EXPECT_LT(many, few * 5 / 2) << stride;
    EXPECT_LT(many, (1U << 13U) * 100U) << stride;
  }
}

// It would not end if any call visited all regions for each: 10^11 steps.
TEST(ManyRegions, AreProtectedCapturedRestoredAndForgotten) {
  constexpr std::int32_t kRegions = 300'000;
  constexpr std::uint64_t kBytes = 10;
  std::vector<std::byte> memory(kRegions * kBytes);
  RegionTable table;
  const auto address = [&](std::int32_t id) {
    return memory.data() +
           static_cast<std::uint64_t>(id) * 7919 % kRegions * kBytes;  // their ids' order is another one
  };
  for (std::int32_t id = 0; id < kRegions; ++id) ASSERT_TRUE(table.protect({id, address(id), 1, kBytes}));
  EXPECT_EQ(table.bytes(), memory.size());
  EXPECT_FALSE(table.protect({kRegions, memory.data() + 15, 1, 1}));
  const auto entries = table.entries();
  std::vector<std::int32_t> all;
  for (const auto& entry : entries) all.push_back(entry.id);
  const auto matching = match_regions(table, entries, {all, true}).value();
  ASSERT_TRUE(matching.differences.empty());
  ASSERT_EQ(matching.to, all);
  const auto where = captured_memory(table), whereto = restored_memory(table, entries, all);
  std::uint64_t length = 0;
  for (const auto& range : cut(table.bytes(), 64)) {
    const auto from = where.spans(range), to = whereto.spans(range);
    ASSERT_TRUE(std::equal(from.begin(), from.end(), to.begin(), to.end(), [](const auto& a, const auto& b) {
      return a.address == b.address && a.length == b.length;
    }));
    for (const auto& span : from) length += span.length;
  }
  EXPECT_EQ(length, memory.size());
  for (std::int32_t id = 0; id < kRegions; ++id) ASSERT_TRUE(table.unprotect(id));
  EXPECT_EQ(table.bytes(), 0U);
}

TEST(Cut, OfPartsOfArraysHasSixteenChunksAndNoneIsShortOrTooLong) {
  constexpr std::uint64_t kMost = 64 * base::MiB;
  EXPECT_EQ(chunk_bytes_of_parts(0, kMost), 4 * base::MiB);
  EXPECT_EQ(chunk_bytes_of_parts(64 * base::MiB, kMost), 4 * base::MiB);
  EXPECT_EQ(chunk_bytes_of_parts(64 * base::MiB + 16, kMost), 8 * base::MiB);
  EXPECT_EQ(chunk_bytes_of_parts(1 * base::GiB, kMost), kMost);
  EXPECT_EQ(chunk_bytes_of_parts(1ULL << 62U, kMost), kMost);
  EXPECT_EQ(chunk_bytes_of_parts(1 * base::GiB, 64 * base::KiB), 64 * base::KiB) << "no slot has more room";
  for (std::uint64_t total = 1; total < 2 * base::GiB; total = 3 * total + 7)
    EXPECT_LE(cut(total, chunk_bytes_of_parts(total, kMost)).size(), std::max<std::uint64_t>(16, total / kMost + 1));
}

TEST(Cut, GivesFullChunksAndAShorterLast) {
  EXPECT_TRUE(cut(0, 10).empty());
  for (std::uint64_t total = 1; total < 60; ++total) {
    std::uint64_t next = 0;
    const auto chunks = cut(total, 10);
    for (const auto& chunk : chunks) {
      EXPECT_EQ(chunk.begin, next);
      EXPECT_EQ(chunk.length, std::min<std::uint64_t>(10, total - next));
      next += chunk.length;
    }
    EXPECT_EQ(next, total);
    EXPECT_EQ(chunks.size(), (total + 9) / 10);
  }
}

/// Protects random regions, some empty, in random order of memory.
void protect_at_random(std::mt19937_64& random, std::vector<std::byte>& memory, RegionTable& table) {
  std::size_t offset = 0;
  for (std::uint64_t count = random() % 8; count > 0; --count) {
    const std::uint64_t element = 1 + random() % 9, elements = random() % 4 == 0 ? 0 : random() % 30;
    const auto id = static_cast<std::int32_t>(random() % 40);
    if (table.find(id) != nullptr) continue;
    offset += random() % 20;
    ASSERT_TRUE(table.protect({id, memory.data() + offset, element, elements}));
    offset += element * elements;
  }
}

TEST(Parts, OfEveryChunkTogetherAreTheCaptureByteByByte) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::byte> memory(4096);
    RegionTable table;
    protect_at_random(random, memory, table);
    std::vector<std::byte*> expected;
    for (const auto& [id, region] : table.regions())
      for (std::uint64_t i = 0; i < region.bytes(); ++i) expected.push_back(region.address + i);
    std::vector<std::byte*> found;
    const auto where = captured_memory(table);
    for (const auto& range : cut(table.bytes(), 1 + random() % 50)) {
      std::uint64_t length = 0;
      for (const auto& part : where.spans(range)) {
        EXPECT_GT(part.length, 0U);
        for (std::uint64_t i = 0; i < part.length; ++i) found.push_back(part.address + i);
        length += part.length;
      }
      EXPECT_EQ(length, range.length);
    }
    EXPECT_EQ(found, expected) << "seed " << seed;
  }
}

TEST(Parts, OfARestoreLeadToTheWantedRegionsAndNowhereElse) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::byte> memory(4096), moved(4096);
    RegionTable then, now;
    protect_at_random(random, memory, then);
    std::vector<std::int32_t> to;
    std::vector<std::byte*> expected;
    std::size_t offset = 0;
    for (const auto& [id, region] : then.regions()) {  // the same sizes at other addresses; some are not wanted
      const bool take = random() % 3 != 0;
      ASSERT_TRUE(now.protect({id, moved.data() + offset, region.element_bytes, region.count}));
      to.push_back(take ? id : kNoRegion);
      for (std::uint64_t i = 0; i < region.bytes(); ++i) expected.push_back(take ? moved.data() + offset + i : nullptr);
      offset += region.bytes();
    }
    std::vector<std::byte*> found;
    const auto where = restored_memory(now, then.entries(), to);
    for (const auto& range : cut(then.bytes(), 1 + random() % 50))
      for (const auto& part : where.spans(range))
        for (std::uint64_t i = 0; i < part.length; ++i)
          found.push_back(part.address == nullptr ? nullptr : part.address + i);
    EXPECT_EQ(found, expected) << "seed " << seed;
  }
}

TEST_F(Regions, KeepWhatWasSaidOfThemWhereTheyAreProtectedAgain) {
  const segment::Elements said{array::ElementType::parse("f8", "test").value(), std::vector<std::uint64_t>{2, 5}};
  ASSERT_TRUE(protect(1, 0, 8, 10));
  EXPECT_EQ(table_.set_elements(2, said).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(table_.set_optional(2, true).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(table_.set_elements(1, {array::ElementType::parse("f4", "test").value(), {}}).error().code,
            PERDURE_INVALID_ARGUMENT);
  ASSERT_TRUE(table_.set_elements(1, said));
  ASSERT_TRUE(table_.set_optional(1, true));
  table_.note_restored({1}, {});
  ASSERT_TRUE(protect(1, 200, 8, 10));
  EXPECT_EQ(segment::elements_of(table_.entries().at(0)), said);
  EXPECT_TRUE(table_.find(1)->optional);
  EXPECT_TRUE(table_.find(1)->restored);
  ASSERT_TRUE(protect(1, 200, 8, 11));
  EXPECT_EQ(segment::elements_of(table_.entries().at(0)), (segment::Elements{said.type, {}})) << "another shape now";
  ASSERT_TRUE(protect(1, 200, 4, 11));
  EXPECT_TRUE(table_.entries().at(0).plain());
  ASSERT_TRUE(table_.unprotect(1));
  ASSERT_TRUE(protect(1, 200, 4, 11));
  EXPECT_FALSE(table_.find(1)->optional) << "another region";
  EXPECT_FALSE(table_.find(1)->restored);
}

}  // namespace
}  // namespace perdure::capture
