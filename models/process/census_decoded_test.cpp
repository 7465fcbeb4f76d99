// Tests decoding and calls for state that this kernel may not support.
#include <gmock/gmock.h>
#include <linux/prctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <map>

#include "process/obstacles.hpp"
#include "process/read_state.hpp"
#include "process/scheduling.hpp"
#include "process/semaphores.hpp"
#include "process/state_calls.hpp"

namespace perdure::process {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A kernel with these results, and EINVAL for all other calls.
std::function<base::Result<std::int64_t>(const SystemCall&)> kernel(std::map<SystemCall, std::int64_t> answers) {
  return [answers = std::move(answers)](const SystemCall& call) -> base::Result<std::int64_t> {
    const auto found = answers.find(call);
    return found == answers.end() ? -EINVAL : found->second;
  };
}

SystemCall barrier(std::uint64_t command) { return {SYS_membarrier, command, 0, 0}; }

TEST(CensusOfFacts, TriesMemoryBarriersWhereTheKernelDoesNotListThem) {
  const auto listed = read_membarriers(kernel({{barrier(1 << 9), kMembarrierPrivate | 1}}));
  ASSERT_TRUE(listed);
  EXPECT_EQ(*listed, kMembarrierPrivate) << "others than registrations are none";
  const auto tried = read_membarriers(kernel({{barrier(kMembarrierPrivate >> 1), 0},
                                              {barrier(kMembarrierCores >> 1), -EPERM},
                                              {barrier(kMembarrierSequences >> 1), 0}}));
  ASSERT_TRUE(tried);
  EXPECT_EQ(*tried, kMembarrierPrivate | kMembarrierSequences | kMembarrierGlobal);
  const auto none = read_membarriers(kernel({}));
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, 0U);
}

TEST(CensusOfFacts, RegistersForMemoryBarriersThatItHasNot) {
  ProcessState wanted, now;
  wanted.membarriers = kMembarrierPrivate | kMembarrierGlobal;
  now.membarriers = kMembarrierGlobal;
  const auto calls = calls_for(wanted, now);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].call, barrier(kMembarrierPrivate));
  EXPECT_FALSE(calls[0].may_fail);
  EXPECT_THAT(calls_for(now, wanted), IsEmpty()) << "nobody can take one back, and it costs nothing";
}

#if defined(__x86_64__)
TEST(CensusOfFacts, AsksForTheTilesOfAmx) {
  ProcessState wanted, now;
  wanted.register_parts = 0x602e7;
  now.register_parts = 0x202e7;
  const auto calls = calls_for(wanted, now);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].call, (SystemCall{SYS_arch_prctl, 0x1023, 18}));
  EXPECT_FALSE(calls[0].may_fail) << "its next tile would end it";
  EXPECT_THAT(calls_for(now, wanted), IsEmpty());
}
#endif

TEST(CensusOfFacts, SetsSpeculationOfWhichAThreadHasTheChoice) {
  const std::string status =
      "Speculation_Store_Bypass:\tthread mitigated\nSpeculationIndirectBranch:\talways enabled\n";
  EXPECT_TRUE(chooses_speculation(status, 0));
  EXPECT_FALSE(chooses_speculation(status, 1));
  EXPECT_FALSE(chooses_speculation("Speculation_Store_Bypass:\tvulnerable\n", 0));
  EXPECT_TRUE(chooses_speculation("SpeculationIndirectBranch:\tconditional force disabled\n", 1));
  ThreadState wanted, now;
  wanted.speculation = {PR_SPEC_PRCTL | PR_SPEC_DISABLE, 0, PR_SPEC_PRCTL | PR_SPEC_ENABLE};
  now.speculation = {PR_SPEC_PRCTL | PR_SPEC_ENABLE, 0, PR_SPEC_PRCTL | PR_SPEC_ENABLE};
  const auto calls = calls_for(wanted, now);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].call, (SystemCall{SYS_prctl, PR_SET_SPECULATION_CTRL, 0, PR_SPEC_DISABLE}));
  EXPECT_FALSE(calls[0].may_fail);
}

TEST(CensusOfFacts, SaysWhoWritesFilesBack) {
  EXPECT_TRUE(flushes_files(0x40580100));
  EXPECT_FALSE(flushes_files(0x40480100)) << "it does without I/O only";
  EXPECT_TRUE(chose_memory_failures(0x40400180));
  EXPECT_FALSE(chose_memory_failures(0x40400100));
  ThreadState wanted;
  wanted.flushes_files = true;
  const auto calls = calls_for(wanted, {});
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].call, (SystemCall{SYS_prctl, 57, 1}));
  EXPECT_TRUE(calls[0].may_fail) << "it takes CAP_SYS_RESOURCE";
}

TEST(CensusOfFacts, SetsBoundsOfUse) {
  ThreadState wanted, now;
  wanted.least_use = 100;
  wanted.most_use = 700;
  EXPECT_TRUE(has_other_use(wanted, now));
  now = wanted;
  EXPECT_FALSE(has_other_use(wanted, now));
  EXPECT_FALSE(has_other_use({}, now)) << "the kernel of the capture had no bounds";
  const auto attributes = with_use({.policy = 3, .flags = 1, .nice = 5}, 100, 700);
  EXPECT_EQ(attributes.bytes, sizeof attributes);
  EXPECT_EQ(attributes.flags, 1U | 0x78U) << "all else as it is";
  EXPECT_EQ(attributes.policy, 3U);
  EXPECT_EQ(attributes.least_use, 100U);
  EXPECT_EQ(attributes.most_use, 700U);
}

TEST(CensusOfFacts, RefusesKeysOfMemory) {
  const auto with = [](std::uint64_t key, std::int64_t answer) {
    return std::pair(SystemCall{SYS_pkey_mprotect, kAddressEnd, kPageBytes, 1, key}, answer);
  };
  const auto none = read_protection_keys(kernel({with(0, -ENOMEM)}));
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, 0U);
  const auto two = read_protection_keys(kernel({with(0, -ENOMEM), with(3, -ENOMEM), with(15, -ENOMEM)}));
  ASSERT_TRUE(two);
  EXPECT_EQ(*two, 1U << 3 | 1U << 15);
  const auto without = read_protection_keys(kernel({with(3, -ENOMEM)}));
  ASSERT_TRUE(without);
  EXPECT_EQ(*without, 0U) << "a processor without keys has not even the first";
  LostState state;
  EXPECT_THAT(obstacles_of_state(state), IsEmpty());
  state.protection_keys = *two;
  const auto found = obstacles_of_state(state);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].what, HasSubstr("pkey_alloc"));
}

std::vector<Obstacle> with_thread(const std::function<void(ThreadFacts&)>& change) {
  ProcessFacts facts;
  facts.threads.resize(2);
  change(facts.threads[1]);
  return obstacles_of_facts(facts);
}

TEST(CensusOfFacts, RefusesCoresThatOthersShare) {
  const auto found = with_thread([](ThreadFacts& thread) { thread.core_cookie = 0xabc; });
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].what, HasSubstr("PR_SCHED_CORE"));
}

const std::string kPlainStatus =
    "State:\tS (sleeping)\nTgid:\t5\nPid:\t5\nPPid:\t1\nTracerPid:\t0\nUid:\t1\t1\t1\t1\nGid:\t5\t5\t5\t5\n"
    "CapEff:\t0\nuntag_mask:\t0xffffffffffffffff\nx86_Thread_features:\t\nx86_Thread_features_locked:\tshstk\n";

TEST(CensusOfFacts, RefusesShadowStacksAndTagsOfAddresses) {
  const auto plain = parse_status(kPlainStatus);
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->has_shadow_stack || plain->tags_addresses);
  std::string text = kPlainStatus;
  text.replace(text.find("features:\t"), 10, "features:\tshstk wrss ");
  text.replace(text.find("0xffff"), 6, "0x81ff");
  const auto status = parse_status(text);
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->has_shadow_stack && status->tags_addresses);
  const auto shadow = with_thread([](ThreadFacts& thread) { thread.status.has_shadow_stack = true; });
  ASSERT_THAT(shadow, SizeIs(1));
  EXPECT_THAT(shadow[0].what, HasSubstr("shadow stack"));
  const auto tags = with_thread([](ThreadFacts& thread) { thread.status.tags_addresses = true; });
  ASSERT_THAT(tags, SizeIs(1));
  EXPECT_THAT(tags[0].what, HasSubstr("LAM"));
}

TEST(CensusOfFacts, KnowsWhoMayHaveChangedWhichSemaphores) {
  const auto sets = parse_semaphores(
      "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n"
      "      4660          3   620          1    10    20    11    21 1795999032 1795999032\n"
      "         0          4   666          1    10    20    11    21          0 1795999032\n"
      "nonsense\n");
  ASSERT_THAT(sets, ElementsAre(SemaphoreSet{3, 0620, 10, 20, 11, 21, true}, SemaphoreSet{4, 0666, 10, 20, 11, 21}));
  const auto status = [](int user, int group, const char* capabilities = "0") {
    return "Uid:\t" + std::to_string(user) + "\nGid:\t" + std::to_string(group) + "\nGroups:\t7 9 \nCapEff:\t" +
           capabilities + "\n";
  };
  EXPECT_TRUE(may_have_changed(sets[0], status(0, 1)));
  EXPECT_TRUE(may_have_changed(sets[0], status(10, 1)));
  EXPECT_TRUE(may_have_changed(sets[0], status(11, 1)));
  EXPECT_TRUE(may_have_changed(sets[0], status(5, 21)));
  EXPECT_FALSE(may_have_changed(sets[0], status(5, 5)));
  EXPECT_TRUE(may_have_changed(sets[0], status(5, 5, "8000"))) << "CAP_IPC_OWNER";
  EXPECT_FALSE(may_have_changed(sets[1], status(0, 0))) << "nobody has ever changed it";
  SemaphoreSet of_group = sets[0];
  of_group.group = 9;
  EXPECT_TRUE(may_have_changed(of_group, status(5, 5)));
  of_group.permissions = 0602;
  EXPECT_FALSE(may_have_changed(of_group, status(5, 5)));
}

TEST(CensusOfFacts, ChangesNothingThatIsAsItWas) {
  ThreadState thread;
  thread.secure_bits = 0x3f;
  thread.counter_access = 2;
  thread.speculation = {3, 3, 3};
  ProcessState process;
  process.membarriers = kMembarriers;
  process.register_parts = 0x602e7;
  EXPECT_THAT(calls_for(thread, thread), IsEmpty());
  EXPECT_THAT(calls_for(process, process), IsEmpty());
  EXPECT_THAT(last_calls_for(ProcessImage(), ProcessState()), IsEmpty());
}

}  // namespace
}  // namespace perdure::process
