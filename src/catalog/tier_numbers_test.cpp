// Tests that tiers are identified over launches by their identity, not by their position.
#include "catalog/tier_numbers.hpp"

#include <gmock/gmock.h>

#include "support/sample_records.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::catalog {
namespace {

using test_support::described;
using test_support::fold;
using test_support::sample_id;
using test_support::sample_redundancy_set;
using test_support::sample_stage;
using testing::ElementsAre;

const segment::VersionId kFirst = sample_id(1), kSecond = sample_id(2);
constexpr std::uint64_t kBoot = 77;
const TierPlace kShm{"/dev/shm/job", 5, 100, kBoot}, kTmp{"/tmp/job.slots", 6, 200, 0};
const OpenedTier kMemory{"memory", 4711, kShm}, kFile{"file", 42, kTmp};

/// Memory is 0, files are 1, and each has a version.
State two_tiers() {
  return fold({TierRecord{0, "memory", 4711, kShm}, TierRecord{1, "file", 42, kTmp}, sample_stage(kFirst, 0, 1, 0),
               sample_stage(kSecond, 0, 1, 1)});
}

TierNumbering number(const State& log, const std::vector<OpenedTier>& opened, std::uint64_t boot = kBoot) {
  return number_tiers(log, opened, boot);
}

TEST(TierNumbers, FollowTheTiersAndNotTheirOrder) {
  const auto same = number(two_tiers(), {kMemory, kFile});
  EXPECT_THAT(same.numbers, ElementsAre(0, 1));
  EXPECT_TRUE(same.records.empty());
  const auto turned = number(two_tiers(), {kFile, kMemory});
  EXPECT_THAT(turned.numbers, ElementsAre(1, 0));
  EXPECT_TRUE(turned.records.empty());
  EXPECT_TRUE(turned.gone.empty());
}

TEST(TierNumbers, ATierIsTheSameWhereverItsDirectoryIsNow) {
  OpenedTier moved = kFile;
  moved.place.directory = "/scratch/job.slots";
  const auto numbering = number(two_tiers(), {kMemory, moved});
  EXPECT_THAT(numbering.numbers, ElementsAre(0, 1));
  EXPECT_THAT(numbering.records, ElementsAre(TierRecord{1, "file", 42, moved.place}));
  EXPECT_TRUE(numbering.gone.empty());
}

TEST(TierNumbers, AnotherTierOfTheSameNameTakesNoNumberThatSomethingRefersTo) {
  const OpenedTier elsewhere{"file", 43, {"/other/job.slots", 6, 201, 0}};
  const auto numbering = number(two_tiers(), {kMemory, elsewhere});
  EXPECT_THAT(numbering.numbers, ElementsAre(0, 2));
  EXPECT_TRUE(numbering.gone.empty());
  const auto remounted = number(two_tiers(), {kMemory, {"file", 44, {kTmp.directory, 9, 2, 0}}});
  EXPECT_THAT(remounted.numbers, ElementsAre(0, 2)) << "the same path, but another file system, or none, is there";
}

TEST(TierNumbers, ANumberThatNothingRefersToIsUsedAgain) {
  State log = two_tiers();
  log.apply(DropRecord{kSecond});
  EXPECT_THAT(number(log, {kMemory, {"file", 43, {"/job-2/slots", 6, 201, 0}}}).numbers, ElementsAre(0, 1));
}

// Its record was damaged: the content of its slots is unknown, but it is not that of another tier.
TEST(TierNumbers, ANumberWhoseRecordIsLostIsNobodyElses) {
  const State log = fold({sample_stage(kFirst, 0, 1, 0)});
  EXPECT_THAT(number(log, {kMemory}).numbers, ElementsAre(1));
}

TEST(TierNumbers, WhoIsInTheVeryPlaceOfAnotherTakesItsNumberAndItsContentIsGone) {
  const OpenedTier anew{"file", 43, kTmp};
  const State log = two_tiers();
  const auto numbering = number(log, {kMemory, anew});
  EXPECT_THAT(numbering.numbers, ElementsAre(0, 1));
  EXPECT_THAT(numbering.gone, ElementsAre(1));
  State after = log;
  for (const auto& record : numbering.records) after.apply(record);
  EXPECT_TRUE(after.versions.contains(kFirst));
  EXPECT_FALSE(after.versions.contains(kSecond));
}

TEST(TierNumbers, MemoryDoesNotOutliveAStartOfTheMachine) {
  State log = two_tiers();
  const auto numbering = number(log, {kFile}, kBoot + 1);
  EXPECT_THAT(numbering.gone, ElementsAre(0));
  for (const auto& record : numbering.records) log.apply(record);
  EXPECT_FALSE(log.versions.contains(kFirst));
  EXPECT_TRUE(log.versions.contains(kSecond));
  EXPECT_TRUE(number(log, {kFile}, kBoot + 1).records.empty()) << "said once";
  EXPECT_TRUE(number(two_tiers(), {kFile}).gone.empty()) << "the machine runs as before";
  EXPECT_TRUE(number(two_tiers(), {kFile}, 0).gone.empty()) << "who knows";
}

TEST(TierNumbers, OfALogWithoutPlacesNothingIsTakenToBeGone) {
  const State log = fold({TierRecord{0, "memory", 4711}, sample_stage(kFirst, 0, 1, 0)});
  EXPECT_THAT(number(log, {{"memory", 4712, kShm}}).numbers, ElementsAre(1));
  EXPECT_THAT(number(log, {kMemory}).numbers, ElementsAre(0));
}

TEST(TierNumbers, PlacesArePositionsAndWhatIsNotThereIsSetApart) {
  State log = two_tiers();
  log.apply(sample_stage(kFirst, 1, 2, 1));
  log.apply(RedundancyRecord{sample_redundancy_set(kFirst, 5, 1)});  // a block in files, one in memory
  log.apply(ReachedRecord{{kFirst, 5}});
  log.apply(SpilledRecord{kFirst, 1, {{0, 4096}}});
  const State placed = TierNumbers({7, 1}).placed(log);
  const HeldVersion& held = placed.versions.at(kFirst);
  EXPECT_FALSE(held.pieces.contains(0));
  EXPECT_TRUE(held.unreachable.contains(0));
  EXPECT_EQ(held.pieces.at(1).chunks[0].place, kInTemporarySegment);
  EXPECT_EQ(held.pieces.at(1).chunks[1].place, 1U);
  EXPECT_FALSE(held.restorable(0));
  EXPECT_TRUE(placed.versions.at(kSecond).restorable(0));
  const RedundancySet& set = placed.redundancy_sets.at({kFirst, 5});
  EXPECT_EQ(set.kept.size(), 1U);
  EXPECT_EQ(set.kept.at({1, 0}).place, 1U);
  EXPECT_FALSE(set.reached) << "not with what is left here";
  EXPECT_EQ(placed.unreachable_blocks.at({kFirst, 5}).blocks.size(), 1U);
}

// The snapshot equals the log's, whatever tiers the launch had.
TEST(TierNumbers, ASnapshotSaysWhatTheLogSaid) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    State log;
    for (int i = 0; i < 40; ++i) log.apply(test_support::random_record(random));
    for (const auto& by_position : std::vector<std::vector<std::uint32_t>>{{0, 1}, {1, 0}, {1}, {5, 0}, {9}}) {
      const TierNumbers numbers(by_position);
      State again;
      for (const auto& record : numbers.placed(log).snapshot()) again.apply(numbers.numbered(record));
      EXPECT_EQ(described(again), described(log)) << "seed " << seed;
    }
  }
}

TEST(TierNumbers, WhatIsRebuiltOrGivenUpIsNotWaitedForAnyMore) {
  State log = two_tiers();
  log.apply(RedundancyRecord{sample_redundancy_set(kFirst, 5, 0)});
  log.apply(ReachedRecord{{kFirst, 5}});
  const TierNumbers only_files({1});
  State placed = only_files.placed(log);
  placed.apply(sample_stage(kFirst, 0, 1, 0));
  EXPECT_TRUE(placed.versions.at(kFirst).unreachable.empty());
  EXPECT_TRUE(placed.versions.at(kFirst).restorable(0));
  placed.apply(BadBlockRecord{{kFirst, 5}, {1, 0}, "gone"});
  EXPECT_EQ(placed.unreachable_blocks.at({kFirst, 5}).blocks.size(), 1U);
  EXPECT_FALSE(placed.unreachable_blocks.at({kFirst, 5}).reached);
  placed.apply(ReachedRecord{{kFirst, 5}});
  EXPECT_FALSE(placed.redundancy_sets.at({kFirst, 5}).reached) << "a block of it cannot be reached";
  placed.apply(DropRedundancyRecord{{kFirst, 5}});
  EXPECT_TRUE(placed.unreachable_blocks.empty());
  placed = only_files.placed(log);
  placed.apply(DropRecord{kFirst});
  EXPECT_FALSE(placed.versions.contains(kFirst));
}

TEST(TierNumbers, AbsentTiersAreNamedWithWhatIsThere) {
  State log = two_tiers();
  log.apply(RedundancyRecord{sample_redundancy_set(sample_id(3), 5, 0)});
  const auto absent = absent_tiers(log, {kFile});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].tier, log.tiers.at(0));
  EXPECT_THAT(absent[0].versions, ElementsAre(kFirst, sample_id(3)));
  EXPECT_TRUE(absent_tiers(log, {kMemory, kFile}).empty());
  log.apply(DropRecord{kFirst});
  log.apply(DropRedundancyRecord{{sample_id(3), 5}});
  ASSERT_EQ(absent_tiers(log, {kFile}).size(), 1U);
  EXPECT_TRUE(absent_tiers(log, {kFile})[0].versions.empty());
}

TEST(TierNumbers, ACatalogKeepsThemOverLaunchesAndCompactions) {
  test_support::TemporaryDirectory directory;
  const auto launch = [&](const std::vector<OpenedTier>& opened) {
    auto catalog = std::move(Catalog::open(directory.path()).value());
    EXPECT_TRUE(catalog.number(number_tiers(catalog.state(), opened, kBoot)));
    return catalog;
  };
  {
    Catalog catalog = launch({kMemory, kFile});
    ASSERT_TRUE(catalog.append(sample_stage(kFirst, 0, 1, 0)));
    ASSERT_TRUE(catalog.append(sample_stage(kSecond, 0, 1, 1)));
  }
  {
    Catalog catalog = launch({kFile});
    EXPECT_EQ(catalog.state().versions.at(kFirst).unreachable.size(), 1U);
    EXPECT_EQ(catalog.state().versions.at(kSecond).pieces.at(0).chunks[0].place, 0U);
    ASSERT_TRUE(catalog.append(sample_stage(sample_id(3), 0, 1, 0)));
    ASSERT_TRUE(catalog.compact());
  }
  const Catalog catalog = launch({kFile, kMemory});
  EXPECT_EQ(catalog.state().versions.at(kFirst).pieces.at(0).chunks[0].place, 1U);
  EXPECT_EQ(catalog.state().versions.at(kSecond).pieces.at(0).chunks[0].place, 0U);
  EXPECT_EQ(catalog.state().versions.at(sample_id(3)).pieces.at(0).chunks[0].place, 0U);
}

}  // namespace
}  // namespace perdure::catalog
