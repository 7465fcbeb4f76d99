// Every byte of an emulated store takes its time and arrives.
#include "store/emulated.hpp"

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::store {
namespace {

class JumpingClock final : public device::Clock {
 public:
  double now_s() override { return now; }
  void wait(std::unique_lock<std::mutex>&, std::condition_variable&, double seconds) override {
    now += std::max(seconds, 1e-9);
  }
  double now = 0;
};

struct Fixture : testing::Test {
  Fixture() {
    device::Device description;
    description.throughput = device::Curve::constant(1000);
    device = std::make_shared<device::Emulator>(description, 1, 0, clock);
    store = emulate(make_store(directory / "store").value(), device);
    EXPECT_TRUE(store->prepare());
  }
  test_support::TemporaryDirectory directory;
  JumpingClock clock;
  std::shared_ptr<device::Emulator> device;
  std::unique_ptr<Store> store;
};

using EmulatedStoreTest = Fixture;

TEST_F(EmulatedStoreTest, EveryByteTakesItsTimeAndArrives) {
  const auto manifest = test_support::sample_version({"app", 1, {5, 6}}, 1).front();
  const auto bytes = test_support::sample_file(manifest).size();
  ASSERT_TRUE(test_support::write_segment(*store, manifest, 1000));
  EXPECT_NEAR(clock.now, static_cast<double>(bytes) / 1000, 1e-3);
  const auto listing = store->list("app").value();
  ASSERT_EQ(listing.size(), 1u);
  EXPECT_EQ(test_support::check_version(*store, listing[0]), "");
}

TEST_F(EmulatedStoreTest, AWriteThatFailsFailsAtOnceAndLeavesTheDevice) {
  const auto manifest = test_support::sample_version({"app", 1, {5, 6}}, 1).front();
  auto sink = store->begin(manifest, 100);
  ASSERT_TRUE(sink);
  EXPECT_EQ((*sink)->write(90, std::vector<std::byte>(20)).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(clock.now, 0);
  EXPECT_EQ(device->streams(), 0u);
}

}  // namespace
}  // namespace perdure::store
