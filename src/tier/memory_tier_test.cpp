#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "base/bytes.hpp"
#include "os/file.hpp"
#include "support/temporary_directory.hpp"
#include "tier/slot_io.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {
namespace {

using base::MiB;

std::uint64_t blocks_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_blocks) * 512 : 0;
}

TEST(MemoryTier, TakesMemoryOnlyForWhatChunksNeed) {
  test_support::TemporaryDirectory directory(test_support::TemporaryDirectory::Place::memory);
  auto tier = make_tier("memory", {0, directory.path(), 64 * MiB, 16 * MiB});
  ASSERT_TRUE(tier);
  auto slot = (*tier)->acquire(3 * MiB);
  ASSERT_TRUE(slot);
  EXPECT_EQ((*tier)->usage().bytes, 4 * MiB);
  SlotIo io;
  ASSERT_TRUE(io.prepare((*tier)->address(*slot), 3 * MiB));
  EXPECT_LE(blocks_of(directory / "arena"), 6 * MiB);
}

// Four small chunks use up the limit; a large one then takes their memory over when they are free.
TEST(MemoryTier, BackingMovesFromFreeSlotsToALargerOne) {
  test_support::TemporaryDirectory directory(test_support::TemporaryDirectory::Place::memory);
  auto tier = make_tier("memory", {0, directory.path(), 8 * MiB, 8 * MiB});
  ASSERT_TRUE(tier);
  std::vector<std::uint64_t> slots;
  for (int i = 0; i < 4; ++i) slots.push_back(*(*tier)->acquire(2 * MiB));
  EXPECT_FALSE((*tier)->can_hold(8 * MiB));
  for (std::uint64_t slot : slots) (*tier)->release(slot);
  EXPECT_FALSE((*tier)->has_free(8 * MiB));
  ASSERT_TRUE((*tier)->acquire(8 * MiB));
  EXPECT_EQ((*tier)->usage().bytes, 8 * MiB);
  EXPECT_FALSE((*tier)->can_hold(1));
}

// Whoever had the slot before it was given up remembers that it is backed; only `fresh` tells him that it is not any
// more.
TEST(MemoryTier, ASlotThatIsReleasedUnwrittenIsStillFreshForTheNext) {
  test_support::TemporaryDirectory directory(test_support::TemporaryDirectory::Place::memory);
  auto tier = make_tier("memory", {0, directory.path(), 2 * MiB, 8 * MiB});
  ASSERT_TRUE(tier);
  const std::uint64_t slot = *(*tier)->acquire(MiB);
  EXPECT_TRUE((*tier)->address(slot).fresh);
  (*tier)->release(slot);
  ASSERT_EQ(*(*tier)->acquire(MiB), slot);
  EXPECT_TRUE((*tier)->address(slot).fresh);
  (*tier)->written(slot);
  EXPECT_FALSE((*tier)->address(slot).fresh);
  (*tier)->release(slot);
  ASSERT_EQ(*(*tier)->acquire(MiB), slot);
  EXPECT_FALSE((*tier)->address(slot).fresh);
}

TEST(MemoryTier, AForeignOrDamagedArenaIsBegunAnew) {
  test_support::TemporaryDirectory directory(test_support::TemporaryDirectory::Place::memory);
  auto first = make_tier("memory", {0, directory.path(), 2 * MiB, 8 * MiB});
  ASSERT_TRUE(first);
  ASSERT_TRUE((*first)->acquire(MiB));
  const std::uint64_t incarnation = (*first)->incarnation();
  const std::byte garbage[24] = {};
  {
    auto file = os::File::open(directory / "arena", os::Open::read_write);
    ASSERT_TRUE(file && file->write(0, garbage));
  }
  auto second = make_tier("memory", {0, directory.path(), 2 * MiB, 8 * MiB});
  ASSERT_TRUE(second);
  EXPECT_NE((*second)->incarnation(), incarnation);
  EXPECT_EQ((*second)->usage().slots, 0u);
}

TEST(MemoryTier, RefusesWhatTheSystemDoesNotHaveHoweverLargeItsLimit) {
  test_support::TemporaryDirectory directory(test_support::TemporaryDirectory::Place::memory);
  auto tier = make_tier("memory", {0, directory.path(), 1ULL << 40, 1ULL << 50});
  ASSERT_TRUE(tier);
  EXPECT_FALSE((*tier)->can_hold(1ULL << 40));
  EXPECT_TRUE((*tier)->can_hold(MiB));
}

TEST(MemoryAllows, LeavesAMarginForTheApplicationAndTheKernel) {
  const SystemRoom room{100 * MiB, 100 * MiB, 1000 * MiB};
  EXPECT_TRUE(memory_allows(room, 50 * MiB));
  EXPECT_FALSE(memory_allows(room, 51 * MiB));
  EXPECT_FALSE(memory_allows({10 * MiB, 1000 * MiB, 1000 * MiB}, 11 * MiB));
  EXPECT_FALSE(memory_allows({10 * MiB, 1000 * MiB, 1000 * MiB}, 10 * MiB)) << "the catalog has to have room, too";
  EXPECT_TRUE(memory_allows({10 * MiB, 1000 * MiB, 1000 * MiB}, 9 * MiB));
  EXPECT_FALSE(memory_allows({1000 * MiB, 10 * MiB, 100 * MiB}, 11 * MiB));
  EXPECT_FALSE(memory_allows(room, ~0ULL));
}

}  // namespace
}  // namespace perdure::tier
