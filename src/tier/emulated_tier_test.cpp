// Tests the room of an emulated tier, which conformance_test.cpp leaves out.
#include "tier/emulated_tier.hpp"

#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::tier {
namespace {

constexpr std::uint64_t kSlotBytes = 2 * base::MiB;

struct EmulatedTierTest : testing::Test {
  std::unique_ptr<Tier> make(const char* kind, std::uint64_t capacity) {
    auto real = make_tier(kind, {0, directory / kind, kSlotBytes, 64 * base::MiB});
    return emulate(std::move(*real), device_, capacity);
  }
  test_support::TemporaryDirectory directory;
  std::shared_ptr<device::Emulator> device_ = std::make_shared<device::Emulator>(device::Device{}, 1, 0);
};

TEST_F(EmulatedTierTest, HasRoomForTheBytesOfTheDescriptionWhateverSlotsTake) {
  for (const char* kind : {"memory", "file"}) {
    auto tier = make(kind, 250'000);
    const auto first = tier->acquire(100'000), second = tier->acquire(100'000);
    ASSERT_TRUE(first && second) << kind;
    EXPECT_FALSE(tier->can_hold(100'000));
    EXPECT_FALSE(tier->has_free(100'000));
    EXPECT_EQ(tier->capacity(100'000), 2u);
    EXPECT_EQ(tier->acquire(100'000).error().code, PERDURE_NO_SPACE);
    EXPECT_TRUE(tier->can_hold(50'000));
    tier->release(*first);
    EXPECT_TRUE(tier->can_hold(150'000));
    EXPECT_FALSE(tier->can_hold(150'001));
  }
}

TEST_F(EmulatedTierTest, KeepsWhatAnEarlierEngineLeftThoughItIsFullerThanItMayBe) {
  std::uint64_t slot = 0;
  {
    auto tier = make("file", 0);
    slot = tier->acquire(500'000).value();
  }
  auto tier = make("file", 100'000);
  ASSERT_TRUE(tier->adopt(slot, 500'000));
  EXPECT_FALSE(tier->can_hold(1));
  tier->release(slot);
  EXPECT_TRUE(tier->can_hold(100'000));
}

TEST_F(EmulatedTierTest, PreparesNoMoreThanItWillHold) {
  auto tier = make("memory", 2 * kSlotBytes);
  EXPECT_LE(tier->reserve(std::vector<std::uint64_t>(10, kSlotBytes), 1).size(), 2u);
  EXPECT_EQ(tier->device(), device_.get());
}

}  // namespace
}  // namespace perdure::tier
