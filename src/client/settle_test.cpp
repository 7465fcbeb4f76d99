// A job that died left attempts undecided: its next launch decides about each version by its remaining data.
#include "client/settle.hpp"

#include <atomic>

#include "client/ranks_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::client {
namespace {

class Settling : public JobOfThreads {
 protected:
  /// Stages only, like a rank that dies before anybody commits.
  static void stage_only(Job& job, const segment::VersionId& id) {
    capture::GeneratedSource source(kBytes, seed(job.rank()));
    VersionWriter writer(job, source);
    const auto staged = stage(writer, id);
    EXPECT_TRUE(staged) << staged.error().text();
  }
};

TEST_F(Settling, GivesUpAVersionThatLacksAPieceThoughAnotherIsWhole) {
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  per_node_ = 1, ranks_ = 2;
  std::vector<segment::VersionId> whole(2);
  on_ranks([&](Job& job) {
    whole[job.rank()] = write(job, 1);
    const auto torn = attempt_at(job, 2);
    if (job.rank() == 0) stage_only(job, torn);
  });
  on_ranks([&](Job& job) {
    const auto held = job.engine().inventory("app");
    ASSERT_TRUE(held) << held.error().text();
    ASSERT_EQ(held->size(), 1U);
    EXPECT_EQ(held->at(0).id, whole[job.rank()]);
  });
}

/// The records that a node writes.
class Recorded : public os::FaultRules {
 public:
  Recorded(const std::string& store, std::string catalog)
      : FaultRules(*os::parse_fault_rules("pwrite:" + store + ":ENOSPC")), catalog_(std::move(catalog)) {}
  void after(const os::Operation& operation, int) override {
    const bool here = operation.path.find(catalog_) != std::string::npos && operation.path.ends_with("/catalog");
    if (here && std::string_view(operation.call) == "pwrite") ++records;
  }
  std::atomic<unsigned> records = 0;

 private:
  std::string catalog_;
};

TEST_F(Settling, WritesNothingWhereTheOutcomeIsKnown) {
  per_node_ = 1, ranks_ = 2;
  Recorded hooks(directory_ / "store", key_of_node(0));
  const test_support::InstalledHooks installed(hooks);
  on_ranks([&](Job& job) {
    const auto id = attempt_at(job, 1);
    capture::GeneratedSource source(kBytes, seed(job.rank()));
    VersionWriter writer(job, source);
    ASSERT_TRUE(agree(job.comm(), stage(writer, id)));
    if (job.rank() == 0) {
      ASSERT_TRUE(writer.commit());
    }
  });
  EXPECT_GT(hooks.records.exchange(0), 0U);
  for (int launch = 0; launch < 2; ++launch) {
    on_ranks([&](Job& job) { EXPECT_TRUE(job.engine().inventory("app").value().at(0).committed); });
  }
  EXPECT_EQ(hooks.records, 0U);
}

// Chunks that found no slot are in segments that hold the ranks of a node. A job that writes other segments leaves them
// to the next one that writes those.
TEST_F(Settling, LeavesSegmentsThatWereBegunWithOtherRanksAsTheyAre) {
  const std::string small = "tier.order=file;tier.file.max_bytes=256KiB;";
  std::vector<segment::VersionId> written(4);
  os::FaultRules broken(*os::parse_fault_rules("fdatasync:/store/app:EIO"));
  {
    const test_support::InstalledHooks installed(broken);
    more_ = small;
    on_ranks([&](Job& job) { stage_only(job, written[job.rank()] = attempt_at(job, 1)); });
    more_ = small + "segment.per=rank";
    on_ranks([&](Job& job) {
      const auto held = job.engine().inventory("app").value();
      ASSERT_EQ(held.size(), 1U);
      EXPECT_FALSE(held[0].spilled.empty());
      EXPECT_FALSE(held[0].committed);
    });
  }
  more_ = small;
  on_ranks([&](Job& job) { wait_for_store(job, written[job.rank()]); });
}

}  // namespace
}  // namespace perdure::client
