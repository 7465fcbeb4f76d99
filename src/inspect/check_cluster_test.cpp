// Checks for clusters judge sharing, quotas, memory limits and networks.
#include "inspect/check_cluster.hpp"

#include <gmock/gmock.h>

#include "network/wire.hpp"

namespace perdure::inspect {
namespace {

using testing::HasSubstr;
using testing::Not;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(CheckSharing, WarnsOfAStoreOfOneNodeWhereSeveralAreMeant) {
  const JobNodes one, four{4, false, false}, redundant{0, true, false}, simulated{0, true, true};
  for (const char* type : {"ext4", "tmpfs", "xfs"}) {
    EXPECT_EQ(judge_sharing("/store", type, one).verdict, Verdict::ok) << type;
    EXPECT_THAT(judge_sharing("/store", type, one).finding, HasSubstr("of this node alone"));
    EXPECT_EQ(judge_sharing("/store", type, simulated).verdict, Verdict::ok) << type;
    for (const JobNodes& several : {four, redundant}) {
      EXPECT_EQ(judge_sharing("/store", type, several).verdict, Verdict::warning) << type;
      EXPECT_THAT(judge_sharing("/store", type, several).remedy, HasSubstr("store.path"));
    }
  }
  EXPECT_EQ(judge_sharing("/store", "ext4", four).finding,
            "/store is on ext4, which is of this node alone, and this job has 4 nodes");
  EXPECT_EQ(judge_sharing("/store", "lustre", four).finding, "/store is on lustre, which nodes share");
  for (const char* type : {"lustre", "nfs", "gpfs", "beegfs", "fuse", "overlay", "0x12"})
    EXPECT_EQ(judge_sharing("/store", type, four).verdict, Verdict::ok) << type;
  EXPECT_THAT(judge_sharing("/store", "fuse", four).finding, HasSubstr("does not say"));
}

TEST(CheckSharing, AsksTheBatchSystemHowManyNodesThereAre) {
  EXPECT_EQ(nodes_of_job({}), 0U);
  EXPECT_EQ(nodes_of_job({{"SLURM_JOB_NUM_NODES", "16"}}), 16U);
  EXPECT_EQ(nodes_of_job({{"SLURM_NNODES", "2"}, {"HOME", "/"}}), 2U);
  EXPECT_EQ(nodes_of_job({{"PBS_NUM_NODES", "3"}}), 3U);
  EXPECT_EQ(nodes_of_job({{"SLURM_JOB_NUM_NODES", "many"}}), 0U);
}

TEST(CheckQuota, ToldWhereItLeavesLittle) {
  const auto judged = [](std::uint64_t left_bytes, std::uint64_t left_files) {
    Check check{"store", Verdict::ok, "fine", ""};
    judge_quota(check, "/store", {100 * kGiB, 100 * kGiB - left_bytes, 100'000, 100'000 - left_files}, kGiB);
    return check;
  };
  EXPECT_EQ(judged(50 * kGiB, 50'000).finding, "fine");
  EXPECT_EQ(judged(15 * kGiB, 50'000).verdict, Verdict::warning);
  EXPECT_EQ(judged(15 * kGiB, 50'000).finding, "/store: your quota there leaves 15.0 GiB of 100.0 GiB");
  EXPECT_EQ(judged(0, 50'000).verdict, Verdict::problem);
  EXPECT_THAT(judged(0, 50'000).finding, HasSubstr("no room for one checkpoint"));
  EXPECT_EQ(judged(50 * kGiB, 999).finding, "/store: your quota there leaves 999 of 100000 files");
  EXPECT_EQ(judged(50 * kGiB, 3).verdict, Verdict::problem);
  EXPECT_THAT(judged(50 * kGiB, 3).remedy, HasSubstr("ask for a larger quota"));
  Check check{"store", Verdict::ok, "fine", ""};
  judge_quota(check, "/store", {}, kGiB);
  EXPECT_EQ(check.finding, "fine") << "a quota without limits";
  Check worse{"store", Verdict::problem, "not writable", "chmod"};
  judge_quota(worse, "/store", {1, 1, 1, 1}, kGiB);
  EXPECT_EQ(worse.finding, "not writable") << "what is worse is told";
}

TEST(CheckPlaces, SayWhatHelps) {
  const auto remedy = [](base::ErrorCode code) { return remedy_of_place({code, "", "", "", false}, "store.path"); };
  EXPECT_THAT(remedy(PERDURE_NO_SPACE), testing::AllOf(HasSubstr("df -i"), HasSubstr("quota -s")));
  EXPECT_THAT(remedy(PERDURE_PERMISSION), HasSubstr("where you may write"));
  EXPECT_THAT(remedy(PERDURE_UNSUPPORTED), HasSubstr("that can do this"));
  EXPECT_THAT(remedy(PERDURE_IO), Not(HasSubstr("where you may write")));
}

TEST(CheckMemoryLimit, OfAJobIsComparedWithTheMemoryTier) {
  const auto judged = [](std::uint64_t limit, std::uint64_t left, std::uint64_t tier, bool in_memory = true) {
    return judge_memory_limit({64 * kGiB, limit, left, tier, in_memory});
  };
  EXPECT_EQ(judged(UINT64_MAX, UINT64_MAX, 12 * kGiB).finding, "none below the machine's 64.0 GiB");
  EXPECT_EQ(judged(64 * kGiB, 60 * kGiB, 63 * kGiB).verdict, Verdict::ok) << "no limit of a job";
  EXPECT_EQ(judged(16 * kGiB, 14 * kGiB, 3 * kGiB).verdict, Verdict::ok);
  EXPECT_THAT(judged(16 * kGiB, 14 * kGiB, 3 * kGiB).finding, HasSubstr("may grow to 3.0 GiB"));
  EXPECT_EQ(judged(16 * kGiB, 14 * kGiB, 9 * kGiB).verdict, Verdict::warning);
  EXPECT_EQ(judged(16 * kGiB, 2 * kGiB, 3 * kGiB).verdict, Verdict::warning);
  EXPECT_THAT(judged(16 * kGiB, 2 * kGiB, 3 * kGiB).finding, HasSubstr("by now 2.0 GiB are left"));
  EXPECT_EQ(judged(16 * kGiB, 14 * kGiB, 16 * kGiB).verdict, Verdict::problem);
  EXPECT_THAT(judged(16 * kGiB, 14 * kGiB, 16 * kGiB).remedy, HasSubstr("tier.memory.max_bytes"));
  EXPECT_EQ(judged(16 * kGiB, 14 * kGiB, 32 * kGiB, false).verdict, Verdict::ok) << "it is on a disk";
}

TEST(CheckProvider, SaysWhatLibfabricHas) {
  EXPECT_EQ(judge_provider("tcp", std::string("tcp by eth0")).finding, "libfabric has tcp by eth0");
  const auto none =
      judge_provider("verbs", base::fail(PERDURE_UNAVAILABLE, "network provider 'verbs'", "there is none"));
  EXPECT_EQ(none.verdict, Verdict::problem);
  EXPECT_THAT(none.finding, HasSubstr("there is none"));
  EXPECT_THAT(none.remedy, HasSubstr("network.provider"));
  const auto unknown = network::try_fabric({.provider = "no-such-provider", .bind_address = ""});
  EXPECT_EQ(judge_provider("no-such-provider", unknown).verdict, Verdict::problem);
}

}  // namespace
}  // namespace perdure::inspect
