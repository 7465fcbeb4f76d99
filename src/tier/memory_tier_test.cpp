#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "base/bytes.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
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

// All engines of a user on a node share one limit, unless one was set.
TEST(MemoryTier, ByDefaultCountsWhatOthersHave) {
  test_support::TemporaryDirectory directory(test_support::TemporaryDirectory::Place::memory);
  std::uint64_t others = 0;
  TierOptions options{0, directory.path(), 2 * MiB, 0};
  options.others = [&] { return others; };
  auto tier = make_tier("memory", options).value();
  const std::uint64_t limit = tier->properties().max_bytes;
  EXPECT_EQ(tier->capacity(2 * MiB), limit / (2 * MiB));
  ASSERT_TRUE(tier->acquire(2 * MiB));
  os::shift_monotonic_clock(2'000'000'000);
  others = limit - 3 * MiB;
  EXPECT_EQ(tier->capacity(2 * MiB), 1u);
  EXPECT_FALSE(tier->can_hold(2 * MiB));
  const auto refused = tier->acquire(2 * MiB);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().cause.find("of 3.0 MiB in use, as other engines on this node have"), std::string::npos)
      << refused.error().cause;
  EXPECT_TRUE(tier->reserve({2 * MiB, 2 * MiB}, 7).empty());
  others = limit - 4 * MiB;  // a refusal is checked again at once
  EXPECT_TRUE(tier->acquire(2 * MiB));
  os::shift_monotonic_clock(-2'000'000'000);

  TierOptions chosen{0, directory / "chosen", 2 * MiB, 8 * MiB};
  chosen.others = [] { return ~0ULL; };
  EXPECT_TRUE(make_tier("memory", chosen).value()->acquire(2 * MiB));
}

// The slot's last owner remembers that it is backed. Only `fresh` tells it that this is not so any more.
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

/// Slots with content, as their owners fill them.
class Arena : public testing::Test {
 protected:
  std::unique_ptr<Tier> open(bool existing = false) {
    TierOptions options{0, directory_.path(), 2 * MiB, 64 * MiB};
    options.existing = existing;
    auto tier = make_tier("memory", options);
    EXPECT_TRUE(tier) << (tier ? "" : tier.error().text());
    return tier ? std::move(*tier) : nullptr;
  }
  static std::vector<std::byte> content(std::uint64_t slot) {
    return std::vector<std::byte>(3000, static_cast<std::byte>(slot + 1));
  }
  static void fill(Tier& tier, std::uint64_t slot) {
    SlotIo io;
    base::Hasher hasher;
    EXPECT_TRUE(io.write(tier.address(slot), 0, content(slot), hasher));
    tier.written(slot);
  }
  static bool holds(Tier& tier, std::uint64_t slot) {
    SlotIo io;
    base::Hasher hasher;
    std::vector<std::byte> read(content(slot).size());
    return io.read(tier.address(slot), 0, read, hasher) && read == content(slot);
  }
  test_support::TemporaryDirectory directory_{test_support::TemporaryDirectory::Place::memory};
};

// The kernel lets one thread at a time write to a file.
TEST_F(Arena, HasSlotsThatFollowEachOtherInSeveralFiles) {
  auto tier = open();
  std::set<std::string> files;
  std::set<std::pair<std::string, std::uint64_t>> places;
  for (std::uint64_t slot = 0; slot < 9; ++slot) {
    ASSERT_EQ(*tier->acquire(MiB), slot);
    fill(*tier, slot);
    files.insert(tier->address(slot).path);
    places.insert({tier->address(slot).path, tier->address(slot).offset});
    if (slot == 3) {
      EXPECT_EQ(files.size(), 4U);
    }
  }
  EXPECT_EQ(files.size(), 4U);
  EXPECT_EQ(places.size(), 9U);
  for (const bool existing : {false, true}) {
    const auto again = open(existing);
    EXPECT_EQ(again->incarnation(), tier->incarnation());
    ASSERT_EQ(again->usage().slots, 9U);
    for (std::uint64_t slot = 0; slot < 9; ++slot) {
      EXPECT_TRUE(again->adopt(slot, MiB));
      EXPECT_TRUE(holds(*again, slot)) << slot;
    }
  }
  ASSERT_TRUE(tier->remove_all());
  for (const auto& file : files) EXPECT_FALSE(os::File::open(file, os::Open::read));
}

TEST_F(Arena, OfOneFileGoesOnAsItIs) {
  {
    const auto file = os::File::open(directory_ / "arena", os::Open::create).value();
    ASSERT_TRUE(file.truncate(2 * MiB + 3 * 2 * MiB));
    struct {
      char magic[8] = {'P', 'D', 'A', 'R', 'E', 'N', 'A', '1'};
      std::uint64_t incarnation = 77, stride = 2 * MiB;
    } header;
    ASSERT_TRUE(file.write(0, std::as_bytes(std::span(&header, 1))));
    for (std::uint64_t slot = 0; slot < 3; ++slot) ASSERT_TRUE(file.write((slot + 1) * 2 * MiB, content(slot)));
  }
  const auto tier = open();
  EXPECT_EQ(tier->incarnation(), 77U);
  ASSERT_EQ(tier->usage().slots, 3U);
  for (std::uint64_t slot = 0; slot < 3; ++slot) {
    EXPECT_TRUE(tier->adopt(slot, MiB));
    EXPECT_TRUE(holds(*tier, slot)) << slot;
  }
  ASSERT_EQ(*tier->acquire(MiB), 3U);
  fill(*tier, 3);
  EXPECT_EQ(tier->address(3).path, directory_ / "arena");
  for (std::uint64_t slot = 0; slot < 4; ++slot) EXPECT_TRUE(holds(*tier, slot)) << slot;
}

TEST_F(Arena, OfWhichAFileIsLostKeepsWhatIsInTheOthers) {
  std::string lost;
  {
    auto tier = open();
    for (std::uint64_t slot = 0; slot < 7; ++slot) {
      ASSERT_EQ(*tier->acquire(MiB), slot);
      fill(*tier, slot);
    }
    lost = tier->address(2).path;
  }
  ASSERT_TRUE(os::remove_file(lost));
  for (const bool existing : {false, true}) {
    SCOPED_TRACE(existing);
    const auto tier = open(existing);
    ASSERT_EQ(tier->usage().slots, 6U) << "behind the last one that is known there is nothing";
    EXPECT_EQ(tier->adopt(6, MiB).error().code, PERDURE_CORRUPT);
    for (std::uint64_t slot = 0; slot < 6; ++slot) {
      EXPECT_TRUE(tier->adopt(slot, MiB));
      EXPECT_EQ(holds(*tier, slot), slot != 2) << slot;
    }
  }
}

// At whatever step it was killed, the next one finds all of it.
TEST_F(Arena, ThatIsRemovedHalfIsRemovedWholeByTheNext) {
  auto tier = open();
  for (const char* file : {"arena-3", "arena-2"}) ASSERT_TRUE(os::remove_file(directory_ / file));
  ASSERT_TRUE(open(true)->remove_all());
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

// Its other files belong to an arena that nobody knows any more.
TEST_F(Arena, WithoutAHeaderIsBegunAnewWhole) {
  {
    auto tier = open();
    for (std::uint64_t slot = 0; slot < 4; ++slot) {
      ASSERT_EQ(*tier->acquire(MiB), slot);
      fill(*tier, slot);
    }
  }
  ASSERT_TRUE(os::remove_file(directory_ / "arena"));
  const auto tier = open();
  EXPECT_EQ(tier->usage().slots, 0U);
  for (std::uint64_t slot = 0; slot < 4; ++slot) {
    ASSERT_EQ(*tier->acquire(MiB), slot);
    EXPECT_TRUE(tier->address(slot).fresh);
    EXPECT_FALSE(holds(*tier, slot));
  }
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
  constexpr std::uint64_t kMs = 1'000'000;
  const SystemRoom much{1024 * MiB, 2048 * MiB, 4096 * MiB};
  EXPECT_TRUE(still_allows(much, 500 * MiB, 19 * kMs));
  EXPECT_FALSE(still_allows(much, 500 * MiB, 20 * kMs)) << "others may have taken it";
  EXPECT_TRUE(still_allows(much, 4 * MiB, 999 * kMs)) << "so little will be there";
  EXPECT_FALSE(still_allows(much, 4 * MiB, 1000 * kMs));
  EXPECT_FALSE(still_allows(much, 5 * MiB, 20 * kMs));
  EXPECT_FALSE(still_allows({1024 * MiB, 100 * MiB, 4096 * MiB}, 100'000, kMs)) << "it was not there then, either";
}

}  // namespace
}  // namespace perdure::tier
