// Newer versions that a restore could not take are listed with their reasons.
#include "client/passed_over.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/communicator.hpp"
#include "support/thread_group.hpp"

namespace perdure::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

segment::VersionId app_version(std::uint64_t version, plan::Branch branch = 1) {
  return {"app", version, {version, plan::nonce_on(branch, 1)}};
}

/// A job of one rank, which chose version 3.
class NewerThan : public testing::Test {
 protected:
  void held(const segment::VersionId& version, bool committed) {
    ToldVersion told;
    told.id = version;
    told.ranks = 1;
    told.committed = committed;
    all_.held.push_back({0, told});
    plan(version);
  }
  void plan(const segment::VersionId& version, const char* lost = "its node is away") {
    VersionPlan& planned = plans_.of[version];
    planned.on_nodes = true;
    planned.ranks = 1;
    planned.pieces.lost = lost;
  }
  std::vector<std::uint64_t> passed() const {
    std::vector<std::uint64_t> versions;
    for (const PassedOver& one : newer_than(app_version(3), plans_, all_, store_, {-1, excluded_, line_}))
      versions.push_back(one.id.version);
    return versions;
  }
  JobInventory all_;
  StoreView store_;
  VersionPlans plans_;
  std::set<segment::VersionId> excluded_;
  plan::Line line_ = plan::line_of({}, 1);
};

TEST_F(NewerThan, IsNothingWhereTheNewestWasTaken) {
  held(app_version(2), true);
  EXPECT_THAT(passed(), IsEmpty());
}

TEST_F(NewerThan, IsWhatCannotBeHadWithItsReasonTheNewestFirst) {
  held(app_version(4), true);
  held(app_version(5), true);
  store_.versions.push_back({app_version(6), 1, {}});
  plan(app_version(6));
  plans_.of[app_version(6)].on_nodes = false;
  EXPECT_THAT(passed(), ElementsAre(6, 5, 4));
  const auto all = newer_than(app_version(3), plans_, all_, store_, {-1, excluded_, line_});
  EXPECT_THAT(all[0].why, HasSubstr("neither in the store nor on a node"));
  EXPECT_EQ(all[1].why, "its node is away");
  EXPECT_THAT(passed_over_text(all), HasSubstr("app version 5 (its node is away), app version 4 ("));
}

TEST_F(NewerThan, SaysOfWhatIsHalfFlushedThatNobodyWaitedLonger) {
  held(app_version(4), true);
  all_.held.back().held.spilled = base::Runs<std::uint32_t>({0});
  const auto all = newer_than(app_version(3), plans_, all_, store_, {-1, excluded_, line_});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].why, HasSubstr("its flush from a node to the store had begun, and did not end"));
}

TEST_F(NewerThan, IsNoCaptureThatWasCutShort) {
  held(app_version(4), false);
  EXPECT_THAT(passed(), IsEmpty());
}

TEST_F(NewerThan, IsWhatWasSetAsideOnThisLineAlone) {
  store_.aside.push_back({app_version(5), 0, 1});
  store_.aside.push_back({app_version(6, 2), 0, 1});
  EXPECT_THAT(passed(), ElementsAre(5));
  excluded_.insert(app_version(5));
  EXPECT_THAT(passed(), IsEmpty()) << "it was tried in this call, which has its reason";
}

TEST_F(NewerThan, IsWhatOtherNumbersOfRanksWrote) {
  store_.versions.push_back({app_version(5), 4, {}});
  const auto all = newer_than(app_version(3), plans_, all_, store_, {-1, excluded_, line_});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].why, "it was written by 4 ranks");
}

// A version that could not be had may be there when it is chosen again: then nothing was passed over.
TEST(KeepNewer, LeavesOutWhatIsRestoredAndWhatIsOlder) {
  std::vector<PassedOver> passed{{app_version(6), "away"}, {app_version(5), "damaged"}, {app_version(4), "damaged"}};
  keep_newer(passed, app_version(5));
  ASSERT_EQ(passed.size(), 1U);
  EXPECT_EQ(passed[0].id, app_version(6));
}

TEST(CommonReason, IsThatOfTheLowestRankThatKnowsOne) {
  test_support::ThreadGroup group(3);
  group.run([&](const perdure_communicator& c) {
    const auto comm = comm::make_from_c(c).value();
    base::Error mine{PERDURE_PEER_FAILED, "restore", "rank 1 failed", "", false};
    if (c.rank > 0) mine = {PERDURE_CORRUPT, "chunk of rank " + std::to_string(c.rank), "its hash differs", "", false};
    const auto reason = common_reason(*comm, mine);
    ASSERT_TRUE(reason);
    EXPECT_THAT(*reason, HasSubstr("chunk of rank 1"));
    const base::Error nobody{PERDURE_PEER_FAILED, "restore", "rank 9 failed", "", false};
    EXPECT_THAT(common_reason(*comm, nobody).value(), HasSubstr("rank 9 failed"));
  });
}

}  // namespace
}  // namespace perdure::client
