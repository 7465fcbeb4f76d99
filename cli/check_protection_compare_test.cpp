// Regions and stores of two runs are compared, and the differences are named.
#include "inspect/check_protection_compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cli/libraries.hpp"
#include "cli/verb_testing.hpp"
#include "inspect/check_protection_region.hpp"
#include "support/memory_source.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<double>;

/// A rank's capture of some regions of numbers, in a segment in memory.
struct Sample {
  segment::Piece piece;
  std::vector<std::byte> bytes;
  std::unique_ptr<test_support::MemorySource> source;
  StoredPiece stored() const { return {source.get(), &piece}; }
};

Sample sample(const std::map<std::int32_t, Numbers>& regions, std::uint64_t chunk_bytes) {
  Sample made;
  made.piece = {0, chunk_bytes, {}, {}};
  for (const auto& [id, numbers] : regions) {
    made.piece.regions.push_back({id, sizeof(double), numbers.size()});
    const auto bytes = std::as_bytes(std::span(numbers));
    made.bytes.insert(made.bytes.end(), bytes.begin(), bytes.end());
  }
  for (std::uint64_t begin = 0; begin < made.bytes.size(); begin += chunk_bytes) {
    const std::uint64_t length = std::min<std::uint64_t>(chunk_bytes, made.bytes.size() - begin);
    made.piece.chunks.push_back(
        {begin, length, base::hash128(base::ConstByteSpan(made.bytes).subspan(begin, length)), 0});
  }
  made.source = std::make_unique<test_support::MemorySource>(made.bytes);
  return made;
}

Numbers numbers(std::size_t count) {
  Numbers all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<double>(i) + 1;
  return all;
}

TEST(ComparedRegions, AreEqualWhateverTheChunksAre) {
  const std::map<std::int32_t, Numbers> regions = {{1, numbers(10)}, {2, numbers(33)}, {3, {}}};
  for (const std::uint64_t chunk_bytes : {8U, 12U, 40U, 4096U}) {
    const Sample here = sample(regions, 24), there = sample(regions, chunk_bytes);
    for (int id : {1, 2, 3, 4}) EXPECT_FALSE(RegionComparison(here.stored(), there.stored()).compare(id).value()) << id;
  }
}

TEST(ComparedRegions, NameTheFirstElementThatDiffersAndCountThem) {
  for (const std::uint64_t chunk_bytes : {8U, 12U, 20U, 256U, 4096U}) {
    Numbers other = numbers(33);
    other[7] = 1.5;
    other[32] = -1;
    const Sample here = sample({{1, numbers(10)}, {2, numbers(33)}}, 20);
    const Sample there = sample({{1, numbers(10)}, {2, other}}, chunk_bytes);
    EXPECT_FALSE(RegionComparison(here.stored(), there.stored()).compare(1).value());
    const auto defect = RegionComparison(here.stored(), there.stored()).compare(2).value();
    ASSERT_TRUE(defect) << chunk_bytes;
    EXPECT_EQ(defect->first_element, 7u);
    EXPECT_EQ(defect->elements, 2u);
    EXPECT_EQ(defect->count, 33u);
    EXPECT_THAT(defect->what, HasSubstr("(8 as a double), then"));
    EXPECT_THAT(defect->what, HasSubstr("(1.5 as a double)"));
  }
}

TEST(ComparedRegions, DifferInBitsEvenWhereNumbersAreEqual) {
  const Sample here = sample({{1, {0.0}}}, 8), there = sample({{1, {-0.0}}}, 8);
  EXPECT_TRUE(RegionComparison(here.stored(), there.stored()).compare(1).value());
}

TEST(ComparedRegions, OfOtherSizesOrInOneRunOnlyDiffer) {
  const Sample here = sample({{1, numbers(3)}}, 64), there = sample({{1, numbers(4)}, {2, numbers(1)}}, 64);
  const auto sizes = RegionComparison(here.stored(), there.stored()).compare(1).value();
  ASSERT_TRUE(sizes);
  EXPECT_FALSE(sizes->first_element);
  EXPECT_EQ(sizes->what, "3 elements of 8 bytes, then 4 elements of 8 bytes");
  EXPECT_EQ(RegionComparison(here.stored(), there.stored()).compare(2).value()->what,
            "not there, then 1 elements of 8 bytes");
  EXPECT_EQ(RegionComparison(here.stored(), StoredPiece{}).compare(1).value()->what,
            "3 elements of 8 bytes, then not there");
}

TEST(ComparedRegions, MayHaveOtherNumbersInEachRun) {
  const Sample here = sample({{1, numbers(10)}, {2, numbers(33)}}, 20);
  const Sample there = sample({{1, numbers(33)}, {2, numbers(10)}}, 24);
  RegionComparison regions(here.stored(), there.stored());
  EXPECT_FALSE(regions.compare(1, 2).value());
  EXPECT_FALSE(regions.compare(2, 1).value());
  EXPECT_EQ(regions.compare(1, std::nullopt).value()->what, "10 elements of 8 bytes, then not there");
  EXPECT_EQ(regions.compare(std::nullopt, 1).value()->what, "not there, then 33 elements of 8 bytes");
}

TEST(ComparedRegions, AreNotReadWhereHashesAreEqual) {
  Numbers other = numbers(100);
  other[99] = 0;
  Sample here = sample({{1, numbers(100)}}, 80), there = sample({{1, other}}, 80);
  here.source->bytes()[0] ^= std::byte{1};  // damage that a reader would notice
  EXPECT_EQ(RegionComparison(here.stored(), there.stored()).compare(1).value()->first_element, 99u);
}

/// Counts the reads from it.
class CountedSource : public test_support::MemorySource {
 public:
  using MemorySource::MemorySource;
  base::Status read(std::uint64_t offset, base::ByteSpan target) const override {
    ++reads;
    return MemorySource::read(offset, target);
  }
  mutable unsigned reads = 0;
};

// A million small regions share few chunks.
TEST(ComparedRegions, ShareTheChunksThatAreRead) {
  std::map<std::int32_t, Numbers> one, other;
  for (std::int32_t id = 0; id < 100; ++id) {
    one[id] = {1.0 * id};
    other[id] = {1.0 + id};
  }
  Sample here = sample(one, 80), there = sample(other, 80);
  const CountedSource counted(here.bytes), counted_there(there.bytes);
  RegionComparison regions({&counted, &here.piece}, {&counted_there, &there.piece});
  for (std::int32_t id = 0; id < 100; ++id) ASSERT_TRUE(regions.compare(id).value()) << id;
  EXPECT_EQ(counted.reads, 10U);
  EXPECT_EQ(counted_there.reads, 10U);
}

TEST(ComparedRegions, AreRefusedWhereAChunkIsDamagedOrMissing) {
  Sample here = sample({{1, numbers(100)}}, 80);
  const Sample there = sample({{1, Numbers(100, 0.5)}}, 80);
  here.source->bytes()[200] ^= std::byte{1};
  EXPECT_EQ(RegionComparison(here.stored(), there.stored()).compare(1).error().code, PERDURE_CORRUPT);
  Sample shorter = sample({{1, numbers(100)}}, 80);
  shorter.piece.chunks.pop_back();
  EXPECT_EQ(RegionComparison(shorter.stored(), there.stored()).compare(1).error().code, PERDURE_CORRUPT);
}

Comparison compare(SampleStore& here, SampleStore& there) {
  auto checkpoints = [](SampleStore& sample) {
    std::vector<Checkpoint> all;
    const auto stored = complete_versions(sample.store()).value();
    for (const auto& one : stored) all.push_back(one.what);
    return all;
  };
  Comparison comparison = match(checkpoints(here), checkpoints(there), true);
  EXPECT_TRUE(compare_stores(here.store(), there.store(), comparison, [] { return base::Status(); }));
  return comparison;
}

TEST(ComparedStores, AreNotReadOnWhenThatIsToEnd) {
  SampleStore here, there;
  for (SampleStore* store : {&here, &there}) store->add("nbody", 3, 3);
  Comparison comparison = match({{"nbody", 3, 1}}, {{"nbody", 3, 1}}, true);
  ASSERT_EQ(comparison.compared.size(), 1u);
  int asked = 0;
  const auto stopped = compare_stores(here.store(), there.store(), comparison, [&asked]() -> base::Status {
    if (++asked < 2) return {};
    return base::fail(PERDURE_UNAVAILABLE, "check", "stopped on request");
  });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, PERDURE_UNAVAILABLE);
  EXPECT_EQ(asked, 2);
}

// A sample's content depends on version and attempt; `created` decides about the attempt's time only.
TEST(ComparedStores, AreEqualWhenEveryRankOfEveryVersionIs) {
  SampleStore here, there;
  for (std::uint64_t version : {3, 4}) {
    here.add("nbody", version, 3);
    there.add("nbody", version, 3, {}, 5000, 1'800'000'000'000'000'000);
  }
  here.add("nbody", 5, 3, {0, 2});  // incomplete: nothing to compare
  const Comparison comparison = compare(here, there);
  EXPECT_TRUE(comparison.all_equal());
  EXPECT_EQ(comparison.compared.size(), 2u);
  EXPECT_EQ(comparison.equal().size(), 2u);
}

TEST(ComparedStores, NameRegionsOfRanksThatOneOfThemLacks) {
  SampleStore here, there;
  here.add("nbody", 3, 3);
  there.add("nbody", 3, 2);
  const Comparison comparison = compare(here, there);
  EXPECT_EQ(comparison.differing.size(), 2u);
  EXPECT_EQ(comparison.differing.at({"nbody", 0}).rank, 2u);
}

TEST(ComparedStores, TakeACopyOfAVersionAsTheSame) {
  SampleStore here, there;
  here.add("nbody", 3, 3);
  const auto stored = complete_versions(here.store()).value();
  ASSERT_EQ(stored.size(), 1u);
  ASSERT_TRUE(copy_version(here.store(), stored[0].listing, there.store()));
  const auto copied = complete_versions(there.store()).value();
  ASSERT_EQ(copied.size(), 1u);
  EXPECT_EQ(copied[0].listing.id, stored[0].listing.id) << "the attempt, too";
  EXPECT_EQ(test_support::check_version(there.store(), copied[0].listing), "");
  EXPECT_TRUE(compare(here, there).all_equal());
}

}  // namespace
}  // namespace perdure::cli
