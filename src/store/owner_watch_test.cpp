// A watcher sees whether an owner lives and renews its record.
#include "store/owner_watch.hpp"

#include <gtest/gtest.h>

#include "os/system.hpp"

namespace perdure::store {
namespace {

Owner this_process() {
  Owner owner;
  owner.launch = "1";
  owner.host = "here";
  owner.process = os::process_id();
  owner.started = os::process_started(owner.process);
  return owner;
}

TEST(OwnerWatch, SeesWhetherTheProcessIsThereWhereItCanBeLookedFor) {
  OwnerWatch here("here"), elsewhere("elsewhere");
  Owner owner = this_process();
  EXPECT_TRUE(here.look(owner).same_machine);
  EXPECT_TRUE(here.look(owner).process_lives);
  EXPECT_FALSE(elsewhere.look(owner).same_machine);
  EXPECT_FALSE(elsewhere.look(owner).process_lives);
  ++owner.started;
  EXPECT_FALSE(here.look(owner).process_lives) << "another process has its number";
}

TEST(OwnerWatch, SeesARenewalAndBeginsAnewWithAnotherLaunch) {
  OwnerWatch watch("here");
  EXPECT_FALSE(watch.watched());
  Owner owner = this_process();
  EXPECT_FALSE(watch.look(owner).renewed);
  os::shift_monotonic_clock(1'000'000);
  EXPECT_FALSE(watch.look(owner).renewed);
  EXPECT_GE(watch.look(owner).watched_ns, 1'000'000U);
  ++owner.beat;
  EXPECT_TRUE(watch.look(owner).renewed);
  EXPECT_EQ(watch.watched()->beat + 1, owner.beat);
  owner.launch = "2";
  const auto seen = watch.look(owner);
  EXPECT_FALSE(seen.renewed);
  EXPECT_EQ(seen.watched_ns, 0U);
  EXPECT_EQ(watch.watched()->launch, "2");
}

TEST(OwnerWatch, BeginsAnewWhereARecordIsDamagedAndWhenItIsWhole) {
  OwnerWatch watch("elsewhere");
  const Owner owner = this_process();
  (void)watch.look(owner);
  os::shift_monotonic_clock(5'000'000);
  EXPECT_EQ(watch.look_damaged().watched_ns, 0U);
  EXPECT_TRUE(watch.damaged());
  os::shift_monotonic_clock(5'000'000);
  EXPECT_GE(watch.look_damaged().watched_ns, 5'000'000U);
  EXPECT_EQ(watch.look(owner).watched_ns, 0U);
  EXPECT_FALSE(watch.damaged());
}

}  // namespace
}  // namespace perdure::store
