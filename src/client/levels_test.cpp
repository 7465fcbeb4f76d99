// Which level a version is at, and giving versions up: what one node says is not said of another version, nor for
// another node.
#include "client/levels.hpp"

#include "client/ranks_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::client {
namespace {

class OnTwoNodes : public JobOfThreads {
 protected:
  OnTwoNodes() { per_node_ = 1, ranks_ = 2; }
  static void expect_level(Job& job, std::int64_t version, perdure_level level) {
    const auto reached = level_reached(job, "app", version);
    ASSERT_TRUE(reached) << reached.error().text();
    EXPECT_EQ(*reached, level) << "version " << version;
  }
};

class LevelReached : public OnTwoNodes {
 protected:
  LevelReached() { more_ = "redundancy.scheme=partner"; }
};

TEST_F(LevelReached, IsNotThatOfAnOlderVersion) {
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    write(job, 1);
    expect_level(job, 1, PERDURE_LEVEL_PROCESS);
    const auto reached = wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60);
    ASSERT_TRUE(reached) << reached.error().text();
    expect_level(job, 1, PERDURE_LEVEL_NODE);
    write(job, 2);
    expect_level(job, 2, PERDURE_LEVEL_PROCESS);
    expect_level(job, 1, PERDURE_LEVEL_NODE);
    ASSERT_TRUE(wait_level(job, "app", 2, PERDURE_LEVEL_NODE, 60));
    expect_level(job, 2, PERDURE_LEVEL_NODE);
    expect_level(job, 1, PERDURE_LEVEL_NODE);
  });
}

TEST_F(LevelReached, OfWhatNobodyHasIsAnErrorThatSaysSo) {
  on_ranks([&](Job& job) {
    const auto reached = level_reached(job, "app", 7);
    ASSERT_FALSE(reached);
    EXPECT_EQ(reached.error().code, PERDURE_NOT_FOUND);
  });
}

class ReplacedVersion : public OnTwoNodes {
 protected:
  ReplacedVersion() { more_ = "checkpoint.replace=true"; }
};

// What the store has is the earlier attempt: if the nodes were lost now, its content would come back.
TEST_F(ReplacedVersion, HasTheLevelOfItsNewAttempt) {
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 7));
    expect_level(job, 7, PERDURE_LEVEL_STORE);
  });
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    write(job, 7);
    expect_level(job, 7, PERDURE_LEVEL_PROCESS);
  });
}

class Retirement : public OnTwoNodes {};

// A node that cannot let go of its part may bring it to the store again.
TEST_F(Retirement, LeavesTheStoreAloneWhereAnEngineRefuses) {
  os::FaultRules read_only(*os::parse_fault_rules("pwrite:/node/" + key_of_node(1) + ":EROFS"));
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 1));
    expect_level(job, 1, PERDURE_LEVEL_STORE);
    job.known().observe("app", job.store(), false);
    if (job.rank() == 0) os::install_hooks(&read_only);
    ASSERT_TRUE(job.comm().barrier());
    const auto refused = retire_version(job, "app", 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, job.rank() == 1 ? PERDURE_PERMISSION : PERDURE_PEER_FAILED)
        << refused.error().text();
    const auto listings = job.store().list("app").value();
    ASSERT_EQ(listings.size(), 1U);
    EXPECT_TRUE(store::read_version(job.store(), listings[0]));
    EXPECT_FALSE(job.known().check_free("app", 1)) << "it is still there";
    ASSERT_TRUE(job.comm().barrier());
    if (job.rank() == 0) os::install_hooks(nullptr);
    ASSERT_TRUE(job.comm().barrier());
    const auto retired = retire_version(job, "app", 1);
    ASSERT_TRUE(retired) << retired.error().text();
    EXPECT_TRUE(job.store().list("app").value().empty());
    EXPECT_EQ(level_reached(job, "app", 1).error().code, PERDURE_NOT_FOUND);
    EXPECT_TRUE(job.known().check_free("app", 1)) << "its number can be used again";
  });
  os::install_hooks(nullptr);  // also where an assertion ended a rank
}

}  // namespace
}  // namespace perdure::client
