#include "process/facts.hpp"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/syscall.h>

#include <thread>

#include "process/descriptors_testing.hpp"
#include "process/obstacles.hpp"
#include "process/proc_text.hpp"
#include "support/eventually.hpp"

namespace perdure::process {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kStatus =
    "Name:\tState:\tZ (evil)\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t27198\nNgid:\t0\nPid:\t27199\nPPid:\t1\n"
    "TracerPid:\t7\nUid:\t1000\t0\t1000\t0\nGid:\t5\t6\t7\t8\nCapEff:\t000001ffffffffff\nNoNewPrivs:\t1\nSeccomp:\t2\n";

TEST(Facts, AreWhatTheStatusSays) {
  const auto facts = parse_status(kStatus);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->process, 27198);
  EXPECT_EQ(facts->thread, 27199);
  EXPECT_EQ(facts->parent, 1);
  EXPECT_EQ(facts->tracer, 7);
  EXPECT_EQ(facts->state, 'S') << "a name may look like a line";
  EXPECT_THAT(facts->users, ElementsAre(1000U, 0U, 1000U, 0U));
  EXPECT_THAT(facts->groups, ElementsAre(5U, 6U, 7U, 8U));
  EXPECT_EQ(facts->seccomp, 2U);
  EXPECT_TRUE(facts->no_new_privileges);
  EXPECT_EQ(facts->capabilities, 0x1ffffffffffU);
}

TEST(Facts, ThatAreNotUnderstoodAreNone) {
  for (const std::string line : {"State", "Tgid", "Pid", "PPid", "TracerPid", "Uid", "Gid", "CapEff"}) {
    std::string text = kStatus;
    const auto at = text.find("\n" + line + ":");
    text.erase(at + 1, text.find('\n', at + 1) - at);
    EXPECT_FALSE(parse_status(text)) << line;
  }
  EXPECT_FALSE(parse_status(""));
}

TEST(Facts, OfAPlainChildStandInNobodysWay) {
  DescriptorChild child([]() -> std::string {
    std::thread([] { ::pause(); }).detach();
    return "";
  });
  const auto facts = read_facts(child.process());
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_THAT(facts->threads, SizeIs(2));
  EXPECT_EQ(facts->threads[0].status.thread, child.process());
  EXPECT_EQ(facts->threads[1].status.process, child.process());
  EXPECT_TRUE(facts->is_64_bits);
  EXPECT_EQ(facts->namespaces, facts->namespaces_here);
  const auto all = obstacles_of_facts(*facts);
  EXPECT_THAT(all, IsEmpty()) << all.front().what;
}

TEST(Facts, OfAProcessThatIsNotThereAreNone) { EXPECT_EQ(read_facts(0x3fffffff).error().code, PERDURE_NOT_FOUND); }

TEST(Facts, NameWhoSharesAndWhoIsAChild) {
  DescriptorChild child([]() -> std::string {
    if (::fork() == 0)
      for (;;) ::pause();
    static std::array<char, 65536> stack;
    const auto idle = [](void*) -> int {
      for (;;) ::pause();
    };
    const int other = ::clone(idle, stack.data() + stack.size(), CLONE_VM | SIGCHLD, nullptr);
    return other > 0 ? "" : "clone";
  });
  ASSERT_EQ(child.said(), "");
  const auto facts = read_facts(child.process());
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_THAT(facts->children, SizeIs(2));
  ASSERT_THAT(facts->sharing, SizeIs(1));
  for (const pid_t one : facts->children) {
    EXPECT_EQ(obstacles_of_facts(*facts, {one}).size(), one == facts->sharing[0] ? 2U : 1U);
  }
  for (const pid_t one : facts->children) ::kill(one, SIGKILL);
}

TEST(Facts, KnowThreadsThatLeftTheOthers) {
  DescriptorChild child([]() -> std::string {
    std::atomic<int> left{0};
    std::thread([&] {
      left = ::unshare(CLONE_FILES | CLONE_FS) == 0 ? 1 : -1;
      for (;;) ::pause();
    }).detach();
    (void)test_support::eventually("the thread has left the others", [&] { return left != 0; });
    return left == 1 ? "" : "unshare";
  });
  ASSERT_EQ(child.said(), "");
  const auto facts = read_facts(child.process());
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_FALSE(facts->threads[1].shares_descriptors || facts->threads[1].shares_directories);
  EXPECT_THAT(obstacles_of_facts(*facts), SizeIs(2));
}

TEST(Facts, KnowAProcessWhoseFirstThreadHasEnded) {
  DescriptorChild child([]() -> std::string {
    ::signal(SIGUSR1, [](int) { ::syscall(SYS_exit, 0); });  // ends the thread that gets it
    std::thread([] {
      for (;;) ::pause();
    }).detach();
    return "";
  });
  ASSERT_EQ(::syscall(SYS_tgkill, child.process(), child.process(), SIGUSR1), 0);
  auto facts = read_facts(child.process());
  while (facts && facts->threads[0].status.state != 'Z') facts = read_facts(child.process());
  ASSERT_TRUE(facts) << facts.error().text();
  const auto all = obstacles_of_facts(*facts);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].what, testing::HasSubstr("first thread has ended"));
}

}  // namespace
}  // namespace perdure::process
