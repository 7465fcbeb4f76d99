// Kills a process with -9 at every named point of the store's work. Checks the state that the next process finds.
#include "os/crash_point.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::store {
namespace {

using os::CrashPoint;
using segment::VersionId;
using test_support::check_version;
using test_support::sample_version;
using test_support::write_segment;

const VersionId kKept{"nbody", 1, {1000, 7}};
const VersionId kId{"nbody", 2, {2000, 3}};

class StoreCrashPoint : public testing::TestWithParam<CrashPoint> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(store_->prepare());
    ASSERT_TRUE(write_segment(*store_, sample_version(kKept, 1)[0]));
  }
  /// Runs `work` in a process of its own that dies at the point under test.
  template <class Work>
  void die(const Work& work) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      os::arm_crash_point(GetParam(), 1);
      work();
      _exit(0);  // the point was not reached
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the crash point was never reached";
    ASSERT_EQ(WTERMSIG(status), SIGKILL);
  }
  void expect_clean(bool present) {
    ASSERT_TRUE(store_->clean([](const VersionId&, std::uint32_t) { return true; }));
    const auto listings = store_->list("nbody").value();
    ASSERT_EQ(listings.size(), present ? 2U : 1U);
    for (const VersionListing& listing : listings) EXPECT_EQ(check_version(*store_, listing), "");
    EXPECT_EQ(std::distance(std::filesystem::recursive_directory_iterator(root_), {}), present ? 6 : 3);
  }
  test_support::TemporaryDirectory directory_;
  const std::string root_ = directory_ / "store";
  std::unique_ptr<Store> store_ = make_store(root_).value();
};

class FlushCrashPoint : public StoreCrashPoint {};

TEST_P(FlushCrashPoint, LeavesAWholeVersionOrNone) {
  die([&] { (void)write_segment(*store_, sample_version(kId, 1)[0]); });
  const bool renamed = GetParam() == CrashPoint::flush_after_rename;
  EXPECT_EQ(store_->list("nbody").value().size(), renamed ? 2U : 1U);
  if (renamed) {
    EXPECT_EQ(check_version(*store_, store_->list("nbody").value()[1]), "");
  } else {
    expect_clean(false);
  }
  ASSERT_TRUE(write_segment(*store_, sample_version(kId, 1)[0]));
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(1)), "");
}

INSTANTIATE_TEST_SUITE_P(Points, FlushCrashPoint,
                         testing::Values(CrashPoint::flush_created, CrashPoint::flush_before_sync,
                                         CrashPoint::flush_before_rename, CrashPoint::flush_after_rename),
                         [](const auto& point) {
                           return std::string(os::kCrashPoints[static_cast<std::size_t>(point.param)].name);
                         });

class RetireCrashPoint : public StoreCrashPoint {};

TEST_P(RetireCrashPoint, HidesTheVersionAndCleaningFinishes) {
  for (std::uint32_t i : {0U, 1U}) ASSERT_TRUE(write_segment(*store_, sample_version(kId, 2)[i]));
  die([&] { (void)store_->remove(kId); });
  EXPECT_EQ(store_->list("nbody").value().size(), 1U);
  expect_clean(false);
}

INSTANTIATE_TEST_SUITE_P(Points, RetireCrashPoint,
                         testing::Values(CrashPoint::retire_hidden, CrashPoint::retire_half_deleted),
                         [](const auto& point) {
                           return std::string(os::kCrashPoints[static_cast<std::size_t>(point.param)].name);
                         });

}  // namespace
}  // namespace perdure::store
