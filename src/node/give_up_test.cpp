#include "node/give_up.hpp"

#include <gmock/gmock.h>

#include "node/dead_engine_testing.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::node {
namespace {

using testing::IsEmpty;

class GivingUp : public DeadEnginesFixture {};

/// Refuses everything from the n-th removal on, as if the process had died there.
class EndsAt : public os::Hooks {
 public:
  explicit EndsAt(int removals) : left_(removals) {}
  int before(const os::Operation& operation) override {
    const std::string_view call = operation.call;
    if (call != "unlink" && call != "rmdir") return 0;
    return left_-- > 0 ? 0 : EIO;
  }
  bool ended() const { return left_ < 0; }

 private:
  int left_;
};

TEST_F(GivingUp, LeavesNothing) {
  leave("wave", {1});
  leave("other", {1});
  ASSERT_TRUE(give_up(left_by("wave")));
  EXPECT_FALSE(there("wave"));
  ASSERT_TRUE(give_up(left_by("other")));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(GivingUp, OfSlotsAloneLeavesNothing) {
  leave("wave", {});
  std::filesystem::remove_all(path_of("wave"));
  ASSERT_TRUE(give_up(left_by("wave")));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(GivingUp, TwiceIsGood) {
  leave("wave", {1});
  const Left left = left_by("wave");
  ASSERT_TRUE(give_up(left));
  EXPECT_TRUE(give_up(left));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(GivingUp, IsRefusedWhileAnEngineLives) {
  leave("wave", {1});
  const Left left = left_by("wave");
  const auto lock = os::File::open(path_of("wave") + kLock, os::Open::read_write).value();
  ASSERT_TRUE(lock.try_lock());
  EXPECT_TRUE(left_by("wave").directory.alive);
  const auto before = entries();
  EXPECT_EQ(give_up(left).error().code, PERDURE_BUSY);
  EXPECT_EQ(entries(), before);
}

TEST_F(GivingUp, IsRefusedWhereAnEngineHasWrittenMeanwhile) {
  leave("wave", {1});
  const Left left = left_by("wave");
  append("wave", test_support::sample_stage(test_support::sample_id(2, "run"), 0, 1));
  EXPECT_EQ(give_up(left).error().code, PERDURE_BUSY);
  EXPECT_EQ(left_by("wave").holdings.size(), 2u);
  EXPECT_TRUE(give_up(left_by("wave")));
}

// Whatever step a death ends, either everything is held as before, or nothing is, and the next process goes on.
TEST_F(GivingUp, EndedAnywhereHoldsAllOrNothingAndIsGoneOnWith) {
  int ends = 0;
  for (bool ended = true; ended; ++ends) {
    leave("wave", {1, 2});
    const Left before = left_by("wave");
    EndsAt hooks(ends);
    {
      const test_support::InstalledHooks installed(hooks);
      (void)give_up(before);
    }
    ended = hooks.ended();
    if (!there("wave")) {
      EXPECT_THAT(entries(), IsEmpty());
      continue;
    }
    const Left after = left_by("wave");
    EXPECT_FALSE(after.directory.alive);
    if (after.needs_store()) {
      EXPECT_EQ(after.holdings, before.holdings);
      EXPECT_EQ(after.directory.bytes, before.directory.bytes) << "a slot went before the catalog";
    }
    ASSERT_TRUE(give_up(after));
    EXPECT_THAT(entries(), IsEmpty()) << ends;
  }
  EXPECT_GT(ends, 8);
}

}  // namespace
}  // namespace perdure::node
