#include "process/privileges.hpp"

#include <gmock/gmock.h>
#include <sched.h>

#include "process/facilities.hpp"
#include "process/image.hpp"
#include "process/obstacles.hpp"

namespace perdure::process {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Privileges, AreReadFromAStatus) {
  const auto read = parse_privileges(
      "Groups:\t27 4 1000 \nCapInh:\t0000000000000001\nCapPrm:\t0000010000000003\nCapEff:\t0000010000000002\n"
      "CapBnd:\t000001ffffffffff\n");
  EXPECT_EQ(read.permitted, 0x10000000003U);
  EXPECT_EQ(read.effective, 0x10000000002U);
  EXPECT_EQ(read.inheritable, 1U);
  EXPECT_EQ(read.bounding, 0x1ffffffffffU);
  EXPECT_THAT(read.groups, ElementsAre(4, 27, 1000));
}

TEST(Privileges, OfWhomDescendantsMayBeTraced) {
  constexpr std::uint64_t kTraces = 1ULL << 19;  // CAP_SYS_PTRACE
  for (const char* scope : {"", "0"}) EXPECT_TRUE(may_trace_descendants(scope, 0)) << scope;
  for (const char* scope : {"1", "2", "3", "?"}) EXPECT_FALSE(may_trace_descendants(scope, ~kTraces)) << scope;
  for (const char* scope : {"1", "2"}) EXPECT_TRUE(may_trace_descendants(scope, kTraces)) << scope;
  EXPECT_FALSE(may_trace_descendants("3", kTraces)) << "nobody may";
}

TEST(Privileges, AreNoMoreThanBothHaveOfThem) {
  const Privileges before{6, 2, 0, 7, {}}, now{12, 12, 4, 15, {}};
  const auto common = common_capabilities(before, now);
  EXPECT_EQ(common.permitted, 4U);
  EXPECT_EQ(common.effective, 0U);
  EXPECT_EQ(common.inheritable, 0U);
  EXPECT_EQ(common.bounding, 7U);
}

TEST(Privileges, ThatDifferAreSaid) {
  EXPECT_THAT(differences({1, 1, 0, 1, {4}}, {1, 1, 0, 1, {4}}), IsEmpty());
  EXPECT_THAT(differences({0, 0, 0, 1, {4}}, {1, 1, 0, 1, {4}}), IsEmpty()) << "it gives up what it had not";
  EXPECT_THAT(differences({3, 1, 0, 1, {4, 5}}, {1, 1, 0, 1, {}}),
              ElementsAre(HasSubstr("it goes on without"), HasSubstr("were 4, 5, and are those of whoever")));
}

ProcessFacts with_threads(std::vector<ThreadFacts> threads) {
  ProcessFacts facts;
  facts.process = 7;
  facts.root = "/";
  facts.threads = std::move(threads);
  for (auto& one : facts.threads) one.status.state = 'S';
  return facts;
}

TEST(Obstacles, AreThreadsThatMayMoreThanOthersAndThoseWithDeadlines) {
  ThreadFacts plain, capable, urgent;
  capable.status.capabilities = 1;
  constexpr int kDeadline = 6;
  urgent.policy = kDeadline | SCHED_RESET_ON_FORK;
  EXPECT_THAT(obstacles_of_facts(with_threads({plain, plain})), IsEmpty());
  const auto differ = obstacles_of_facts(with_threads({plain, capable}));
  ASSERT_EQ(differ.size(), 1U);
  EXPECT_THAT(differ[0].what, HasSubstr("different capabilities"));
  const auto deadline = obstacles_of_facts(with_threads({plain, urgent}));
  ASSERT_EQ(deadline.size(), 1U);
  EXPECT_THAT(deadline[0].what, HasSubstr("SCHED_DEADLINE"));
}

TEST(Obstacles, OfWhatHasNoMemoryAreThatAlone) {
  const auto of_the_kernel = obstacles(with_threads({ThreadFacts()}), {}, {});
  ASSERT_EQ(of_the_kernel.size(), 1U);
  EXPECT_THAT(of_the_kernel[0].what, HasSubstr("a thread of the kernel"));
}

}  // namespace
}  // namespace perdure::process
