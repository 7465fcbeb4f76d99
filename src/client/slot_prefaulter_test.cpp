// A thread backs slots ahead of their use.
#include "client/slot_prefaulter.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/quiescent.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kBytes = 10 * base::MiB;  // in steps, the last one shorter

std::uint64_t backed_bytes(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_blocks) * 512 : 0;
}

bool await_backed(const std::string& path, std::uint64_t bytes) {
  return test_support::eventually("the slot is backed", [&] { return backed_bytes(path) >= bytes; });
}

class Prefaulting : public testing::Test {
 protected:
  Prefaulting() : tier_(tier::make_tier("memory", {0, directory_ / "slots", kBytes, 40 * base::MiB}).value()) {}
  tier::SlotAddress slot() { return tier_->address(tier_->acquire(kBytes).value()); }
  test_support::TemporaryDirectory directory_;
  std::unique_ptr<tier::Tier> tier_;
  tier::SlotIo slots_;
  SlotPrefaulter prefaulter_{slots_};
};

TEST_F(Prefaulting, BacksSlotsAheadOfTheirUse) {
  const auto first = slot(), second = slot();
  const std::uint64_t before = backed_bytes(first.path);
  prefaulter_.add(first, kBytes);
  EXPECT_TRUE(await_backed(first.path, before + kBytes));
  const std::uint64_t then = backed_bytes(second.path);
  prefaulter_.add(second, kBytes);  // when its thread may have ended
  EXPECT_TRUE(await_backed(second.path, then + kBytes));
}

TEST_F(Prefaulting, BeginsWithNothingWhileItIsToPauseAndGoesOnAfterwards) {
  const auto first = slot(), second = slot();
  ASSERT_NE(first.path, second.path) << "slots that follow each other are in several files";
  const std::uint64_t before = backed_bytes(first.path), before_second = backed_bytes(second.path);
  {
    const SlotPrefaulter::Pause pause(prefaulter_);
    prefaulter_.add(first, kBytes);
    prefaulter_.add(second, kBytes);
    ASSERT_TRUE(test_support::quiescent());
    EXPECT_EQ(backed_bytes(first.path), before);
    EXPECT_EQ(backed_bytes(second.path), before_second);
  }
  EXPECT_TRUE(await_backed(first.path, before + kBytes));
  EXPECT_TRUE(await_backed(second.path, before_second + kBytes));
}

TEST_F(Prefaulting, ForgetsWhatWaitsWhenItIsStopped) {
  const auto only = slot();
  const std::uint64_t before = backed_bytes(only.path);
  const auto threads = test_support::threads();
  {
    const SlotPrefaulter::Pause pause(prefaulter_);
    prefaulter_.add(only, kBytes);
    prefaulter_.stop();
  }
  EXPECT_EQ(test_support::threads(), threads) << "somebody is to prepare it later";
  EXPECT_EQ(backed_bytes(only.path), before);
}

}  // namespace
}  // namespace perdure::client
