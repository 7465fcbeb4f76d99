#include "client/levels.hpp"
#include "client/ranks_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::client {
namespace {

class LevelReached : public JobOfThreads {};

// What the store has is the earlier attempt: if the nodes were lost now, its content would come back.
TEST_F(LevelReached, OfAVersionThatIsWrittenAgainIsThatOfTheNewAttempt) {
  more_ = "checkpoint.replace=true";
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 7));
    EXPECT_EQ(level_reached(job, "app", 7).value(), PERDURE_LEVEL_STORE);
    ASSERT_TRUE(job.comm().barrier());
  });
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    write(job, 7);
    EXPECT_EQ(level_reached(job, "app", 7).value(), PERDURE_LEVEL_PROCESS);
    ASSERT_TRUE(job.comm().barrier());
  });
}

}  // namespace
}  // namespace perdure::client
