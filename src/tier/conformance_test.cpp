// Tests the rules that every tier of the registry must obey.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/bytes.hpp"
#include "os/file.hpp"
#include "support/temporary_directory.hpp"
#include "tier/emulated_tier.hpp"
#include "tier/leaving_tier.hpp"
#include "tier/slot_io.hpp"

namespace perdure::tier {
namespace {

constexpr std::uint64_t kSlot = 2 * base::MiB;

class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Tier> make(std::uint64_t max_bytes = 8 * base::MiB) {
    auto tier = make_tier(kind(), {3, directory / "slots", kSlot, max_bytes});
    EXPECT_TRUE(tier) << (tier ? "" : tier.error().text());
    if (!tier) return nullptr;
    if (GetParam() == kind()) return std::move(*tier);
    return emulate(std::move(*tier), std::make_shared<device::Emulator>(device::Device{}, 1, 0), 0);
  }
  /// Returns the kind of the real tier: "emulated_file" is an emulated tier over a file tier.
  static std::string kind() {
    const std::string& name = GetParam();
    return name.substr(name.rfind('_') + 1);
  }
  static std::vector<std::byte> content(std::uint64_t seed, std::size_t bytes) {
    std::mt19937_64 random(seed);
    std::vector<std::byte> data(bytes);
    for (auto& b : data) b = static_cast<std::byte>(random());
    return data;
  }
  static void write(const SlotAddress& slot, const std::vector<std::byte>& data) {
    SlotIo io;
    base::Hasher hasher;
    ASSERT_TRUE(io.prepare(slot, data.size()));
    ASSERT_TRUE(io.write(slot, 0, data, hasher));
    EXPECT_EQ(hasher.digest(), base::hash128(data));
  }
  static std::vector<std::byte> read(const SlotAddress& slot, std::size_t bytes) {
    SlotIo io;
    base::Hasher hasher;
    std::vector<std::byte> data(bytes);
    EXPECT_TRUE(io.read(slot, 0, data, hasher));
    EXPECT_EQ(hasher.digest(), base::hash128(data));
    return data;
  }
  test_support::TemporaryDirectory directory;
};

TEST_P(Conformance, NamesItselfItsPlaceAndItsNumber) {
  auto tier = make();
  EXPECT_EQ(tier->properties().name, kind());
  EXPECT_EQ(tier->properties().directory, directory / "slots");
  EXPECT_GE(tier->properties().slot_bytes, kSlot);
  auto slot = tier->acquire(1000);
  ASSERT_TRUE(slot);
  const SlotAddress address = tier->address(*slot);
  EXPECT_EQ(address.tier, 3u);
  EXPECT_EQ(address.slot, *slot);
  EXPECT_EQ(address.mapped, tier->properties().mapped);
  EXPECT_GE(address.capacity, kSlot);
}

TEST_P(Conformance, SlotsInUseNeverOverlap) {
  auto tier = make();
  std::vector<SlotAddress> slots;
  for (std::size_t i = 0; i < 4; ++i) {
    auto slot = tier->acquire(100'000);
    ASSERT_TRUE(slot);
    slots.push_back(tier->address(*slot));
    write(slots.back(), content(i, 100'000));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) EXPECT_EQ(read(slots[i], 100'000), content(i, 100'000)) << i;
}

TEST_P(Conformance, AReleasedSlotIsRecycledWithoutTakingMoreFromTheSystem) {
  auto tier = make();
  auto slot = tier->acquire(500'000);
  ASSERT_TRUE(slot);
  const std::uint64_t bytes = tier->usage().bytes;
  for (int i = 0; i < 50; ++i) {
    tier->release(*slot);
    ASSERT_TRUE(tier->has_free(500'000));
    auto again = tier->acquire(500'000);
    ASSERT_TRUE(again);
    slot = again;
  }
  EXPECT_EQ(tier->usage().bytes, bytes);
  EXPECT_EQ(tier->usage().slots, 1u);
  EXPECT_EQ(tier->usage().free_slots, 0u);
}

TEST_P(Conformance, StaysWithinItsLimitAndSaysSo) {
  auto tier = make(8 * base::MiB);
  std::size_t got = 0;
  for (; got < 100 && tier->can_hold(kSlot); ++got) ASSERT_TRUE(tier->acquire(kSlot));
  EXPECT_EQ(got, 4u);
  EXPECT_EQ(tier->capacity(kSlot), 4u) << "whatever it holds";
  if (!tier->properties().grows) {
    EXPECT_EQ(tier->capacity(tier->properties().slot_bytes + 1), 0u);
  }
  EXPECT_LE(tier->usage().bytes, 8 * base::MiB);
  auto refused = tier->acquire(kSlot);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NO_SPACE);
  EXPECT_NE(refused.error().text().find("tier." + kind() + ".max_bytes"), std::string::npos) << refused.error().text();
}

TEST_P(Conformance, CanHoldAgreesWithAcquireOverRandomUse) {
  auto tier = make();
  std::mt19937_64 random(17);
  std::set<std::uint64_t> used;
  for (int step = 0; step < 400; ++step) {
    if (!used.empty() && random() % 2 == 0) {
      tier->release(*used.begin());
      used.erase(used.begin());
      continue;
    }
    const std::uint64_t bytes = random() % (kSlot + 1000);
    const bool promised = tier->can_hold(bytes);
    EXPECT_LE(tier->has_free(bytes), promised);
    auto slot = tier->acquire(bytes);
    ASSERT_EQ(promised, slot.has_value()) << bytes;
    if (slot) {
      ASSERT_TRUE(used.insert(*slot).second) << "a slot was given twice";
    }
    ASSERT_LE(tier->usage().bytes, 8 * base::MiB);
    ASSERT_EQ(tier->usage().slots - tier->usage().free_slots, used.size());
  }
}

TEST_P(Conformance, RefusesAChunkLargerThanASlotOrGrowsToIt) {
  auto tier = make(8 * base::MiB);
  const std::uint64_t large = 4 * base::MiB;
  ASSERT_GT(large, tier->properties().slot_bytes);
  if (!tier->properties().grows) {
    EXPECT_FALSE(tier->can_hold(large));
    EXPECT_FALSE(tier->acquire(large));
    return;
  }
  EXPECT_EQ(tier->capacity(large), 2u);
  EXPECT_FALSE(tier->can_hold(9 * base::MiB));
  std::vector<std::uint64_t> slots;
  while (tier->can_hold(kSlot)) slots.push_back(tier->acquire(kSlot).value());
  EXPECT_FALSE(tier->can_hold(large)) << "the slots in use have all the room";
  for (const std::uint64_t slot : slots) tier->release(slot);
  ASSERT_TRUE(tier->can_hold(large)) << "free ones give it";
  const std::uint64_t slot = tier->acquire(large).value();
  EXPECT_GE(tier->address(slot).capacity, large);
  SlotIo io;
  base::Hasher hasher;
  const std::vector<std::byte> content(large, std::byte{7});
  ASSERT_TRUE(io.write(tier->address(slot), 0, content, hasher));
  EXPECT_LE(tier->usage().bytes, 8 * base::MiB);
  tier->release(slot);
  std::size_t got = 0;
  for (; got < 100 && tier->can_hold(kSlot); ++got) ASSERT_TRUE(tier->acquire(kSlot));
  EXPECT_EQ(got, slots.size()) << "a slot that grew keeps no room from others";
}

TEST_P(Conformance, ContentAndIncarnationSurviveTheEngine) {
  std::uint64_t slot = 0, incarnation = 0;
  {
    auto tier = make();
    ASSERT_TRUE(tier->acquire(10));
    slot = *tier->acquire(70'000);
    incarnation = tier->incarnation();
    write(tier->address(slot), content(1, 70'000));
  }
  auto tier = make();
  EXPECT_EQ(tier->incarnation(), incarnation);
  ASSERT_TRUE(tier->adopt(slot, 70'000));
  EXPECT_EQ(read(tier->address(slot), 70'000), content(1, 70'000));
  auto other = tier->acquire(70'000);
  ASSERT_TRUE(other);
  EXPECT_NE(*other, slot);
}

TEST_P(Conformance, RefusesToAdoptWhatItDoesNotHaveOrHasGivenAway) {
  auto tier = make();
  auto slot = tier->acquire(1000);
  ASSERT_TRUE(slot);
  for (std::uint64_t wrong : {*slot, *slot + 1, std::uint64_t{1} << 60}) {
    auto refused = tier->adopt(wrong, 1000);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, PERDURE_CORRUPT);
  }
  tier->release(*slot);
  EXPECT_FALSE(tier->adopt(*slot, 1ULL << 50));
}

TEST_P(Conformance, AReservationIsRoomThatIsFreeAfterwards) {
  auto tier = make();
  const auto planned = tier->reserve({kSlot, kSlot, 1000}, 1);
  EXPECT_EQ(tier->usage().free_slots, tier->usage().slots);
  for (const Reserved& reserved : planned) EXPECT_LT(reserved.slot, tier->usage().slots);
  (void)tier->reserve(std::vector<std::uint64_t>(1000, kSlot), 2);  // as much as it can
  EXPECT_LE(tier->usage().bytes, 8 * base::MiB);
}

TEST_P(Conformance, RemoveAllLeavesAnEmptyDirectory) {
  auto tier = make();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(tier->acquire(1000));
  ASSERT_TRUE(tier->remove_all());
  auto left = os::list_directory(directory / "slots");
  ASSERT_TRUE(left);
  EXPECT_TRUE(left->empty());
}

TEST_P(Conformance, ContentThatWasLostHasAnotherIncarnation) {
  const std::uint64_t before = make()->incarnation();
  ASSERT_TRUE(os::remove_tree(directory / "slots"));
  EXPECT_NE(make()->incarnation(), before);
}

// The directory may belong to somebody else by now, so nothing new is made in it.
TEST_P(Conformance, WhatIsToBeThereIsFoundOrNotMade) {
  tier::TierOptions options{3, directory / "slots", kSlot, 8 * base::MiB};
  options.existing = true;
  auto none = make_tier(kind(), options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, PERDURE_NOT_FOUND);
  EXPECT_FALSE(*os::exists(directory / "slots"));
  ASSERT_TRUE(os::make_private_directory(directory / "slots"));
  none = make_tier(kind(), options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, PERDURE_NOT_FOUND) << none.error().text();
  EXPECT_TRUE(os::list_directory(directory / "slots")->empty());
  const std::uint64_t before = make()->incarnation();
  const auto found = make_tier(kind(), options);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ((*found)->incarnation(), before);
}

TEST_P(Conformance, OneThatLeavesIsReadAndEmptiedAndTakesNothingNew) {
  std::uint64_t slot = 0;
  {
    auto tier = make();
    slot = *tier->acquire(70'000);
    write(tier->address(slot), content(1, 70'000));
  }
  auto tier = leave(make());
  EXPECT_TRUE(tier->properties().leaving);
  EXPECT_EQ(tier->properties().name, kind());
  ASSERT_TRUE(tier->adopt(slot, 70'000));
  EXPECT_EQ(read(tier->address(slot), 70'000), content(1, 70'000));
  EXPECT_EQ(tier->usage().slots - tier->usage().free_slots, 1U);
  tier->release(slot);
  EXPECT_EQ(tier->usage().slots, tier->usage().free_slots);
  EXPECT_FALSE(tier->has_free(1));
  EXPECT_FALSE(tier->can_hold(1));
  EXPECT_FALSE(tier->acquire(1));
  EXPECT_EQ(tier->capacity(1), 0U);
  EXPECT_TRUE(tier->reserve({1000}, 1).empty());
  ASSERT_TRUE(tier->remove_all());
  EXPECT_TRUE(os::list_directory(directory / "slots")->empty());
}

// Returns every tier of the registry, and an emulated tier over each.
std::vector<std::string> members() {
  std::vector<std::string> all = tier_names();
  for (const std::string& name : tier_names()) all.push_back("emulated_" + name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Tiers, Conformance, ::testing::ValuesIn(members()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace perdure::tier
