#include <gtest/gtest.h>

#include <filesystem>

#include "base/bytes.hpp"
#include "os/fault_rules.hpp"
#include "os/file.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {
namespace {

using base::KiB;
using base::MiB;

TEST(FileTier, GivesTheFreeSlotWithTheMostRoomSoThatLeastIsPreallocated) {
  test_support::TemporaryDirectory directory;
  auto tier = make_tier("file", {0, directory / "slots", MiB, 8 * MiB});
  ASSERT_TRUE(tier);
  const auto small = *(*tier)->acquire(64 * KiB), large = *(*tier)->acquire(MiB);
  (*tier)->release(small);
  (*tier)->release(large);
  EXPECT_EQ(*(*tier)->acquire(MiB), large);
}

TEST(FileTier, ASlotOfTheTimeOfLargerChunksStillGivesAllOfIt) {
  test_support::TemporaryDirectory directory;
  std::uint64_t slot = 0;
  {
    auto tier = make_tier("file", {0, directory / "slots", MiB, 8 * MiB});
    ASSERT_TRUE(tier);
    slot = *(*tier)->acquire(MiB);
  }
  auto tier = make_tier("file", {0, directory / "slots", 64 * KiB, 8 * MiB});
  ASSERT_TRUE(tier);
  ASSERT_TRUE((*tier)->adopt(slot, MiB));
  EXPECT_GE((*tier)->address(slot).capacity, MiB);
}

TEST(FileTier, AFailedPreallocationLeavesTheSlotFreeAndTheTierUsable) {
  test_support::TemporaryDirectory directory;
  auto tier = make_tier("file", {0, directory / "slots", MiB, 8 * MiB});
  ASSERT_TRUE(tier);
  for (const char* rule :
       {"fallocate:/slot-:ENOSPC", "open:/slot-:EDQUOT", "fallocate:/slot-:EOPNOTSUPP;ftruncate:/slot-:EIO"}) {
    os::FaultRules faults(*os::parse_fault_rules(rule));
    test_support::InstalledHooks installed(faults);
    auto slot = (*tier)->acquire(MiB);
    ASSERT_FALSE(slot) << rule;
    EXPECT_NE(slot.error().text().find("slot-0"), std::string::npos) << slot.error().text();
    EXPECT_EQ((*tier)->usage().slots, (*tier)->usage().free_slots);
  }
  EXPECT_TRUE((*tier)->acquire(MiB));
}

TEST(FileTier, IgnoresFilesThatAreNoSlots) {
  test_support::TemporaryDirectory directory;
  ASSERT_TRUE(os::make_private_directory(directory / "slots"));
  for (const char* name : {"slot-", "slot-x", "slot-1x", "slot-99999999", "other"})
    ASSERT_TRUE(os::write_file_atomically((directory / "slots/") + name, {}));
  auto tier = make_tier("file", {0, directory / "slots", MiB, 8 * MiB});
  ASSERT_TRUE(tier);
  EXPECT_EQ((*tier)->usage().slots, 0u);
}

TEST(FileTier, RefusesADirectoryThatOthersCanEnter) {
  test_support::TemporaryDirectory directory;
  ASSERT_TRUE(os::make_private_directory(directory / "slots"));
  std::filesystem::permissions(directory / "slots", std::filesystem::perms::all);
  auto tier = make_tier("file", {0, directory / "slots", MiB, 8 * MiB});
  ASSERT_FALSE(tier);
  EXPECT_EQ(tier.error().code, PERDURE_PERMISSION);
}

}  // namespace
}  // namespace perdure::tier
