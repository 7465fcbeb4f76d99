// Tests state that no resume could restore: the capture is refused by name, and the program continues.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/syscall.h>

#include <thread>

#include "process/alone_testing.hpp"
#include "process/semaphores.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using testing::HasSubstr;

/// Looks for obstacles, then holds and reads the process, as a capture does.
base::Status look_and_capture(pid_t process) {
  PERDURE_CHECK(look_for_obstacles(process, {}));
  PERDURE_CHECK(capture_to_memory(process));
  return {};
}

/// `make` sets the state, and returns whether this kernel permits it. `has` returns whether the child has it.
void is_refused(const std::function<bool()>& make, const std::function<bool()>& has, const char* said) {
  Alone child([&](Seen& seen) {
    seen.works = make() && has() ? 1 : -1;
    wait_until_over(seen);
    return has() ? 7 : 1;
  });
  child.wait();
  if (child.seen().works < 0) GTEST_SKIP() << "this kernel cannot";
  const auto refused = look_and_capture(child.process());
  EXPECT_EQ(child.tell_end(), 7) << "it was disturbed";
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED);
  EXPECT_THAT(refused.error().text(), HasSubstr(said));
}

/// Forbids this thread to read files.
bool confine() {
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE;
  const auto set = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0));
  return set >= 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_landlock_restrict_self, set, 0) == 0 && ::close(set) == 0;
}
bool is_confined_here() { return ::open("/proc/self/status", O_RDONLY) < 0 && errno == EACCES; }

TEST(Census, RefusesWhatLandlockConfines) { is_refused(confine, is_confined_here, "it is confined: thread "); }

TEST(Census, RefusesWhatLandlockConfinesInOneThread) {
  Alone child([](Seen& seen) {
    std::thread other([&] {
      seen.works = confine() ? 1 : -1;
      wait_until_over(seen);
    });
    other.join();
    return 7;
  });
  child.wait();
  if (child.seen().works < 0) GTEST_SKIP() << "this kernel cannot";
  const auto refused = look_and_capture(child.process());
  EXPECT_EQ(child.tell_end(), 7);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("(Landlock, or another security module)"));
}

TEST(Census, CapturesWhatNothingConfines) {
  Alone child([](Seen& seen) {
    seen.works = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 1 : -1;
    wait_until_over(seen);
    return 7;
  });
  child.wait();
  const auto captured = look_and_capture(child.process());
  EXPECT_TRUE(captured) << captured.error().text();
  EXPECT_EQ(child.tell_end(), 7);
}

TEST(Census, RefusesDirectoriesThatTellOfChanges) {
  test_support::TemporaryDirectory here;
  constexpr int kNotify = 1026;  // F_NOTIFY
  constexpr unsigned long kChanges = 0x80000002;
  const std::string directory = here / "";
  is_refused(
      [&] {
        const int watched = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY);
        return watched == 3 && ::fcntl(watched, kNotify, kChanges) == 0;
      },
      [] { return true; }, "it is told of changes there (F_NOTIFY)");
}

/// Gets an IPC name space: others cannot see its semaphores, and it cannot see theirs.
bool has_semaphores_alone() {
  static const bool alone = ::unshare(CLONE_NEWIPC) == 0;
  return alone;
}

TEST(Census, RefusesSemaphoresThatItsEndChangesBack) {
  if (!has_semaphores_alone()) GTEST_SKIP() << "this user may not have a name space of semaphores";
  const int set = ::semget(IPC_PRIVATE, 1, 0600);
  ASSERT_GE(set, 0);
  is_refused(
      [&] {
        sembuf more{0, 1, SEM_UNDO};
        return ::semop(set, &more, 1) == 0;
      },
      [&] { return ::semctl(set, 0, GETVAL) == 1; }, "System V semaphores that its end changes back (SEM_UNDO)");
  EXPECT_EQ(::semctl(set, 0, GETVAL), 0) << "the kernel did, at its end";
  ::semctl(set, 0, IPC_RMID);
}

TEST(Census, CapturesWhatUsesNoSemaphores) {
  if (!has_semaphores_alone()) GTEST_SKIP() << "this user may not have a name space of semaphores";
  const int set = ::semget(IPC_PRIVATE, 1, 0600);
  ASSERT_GE(set, 0);
  sembuf more{0, 1, 0};
  ASSERT_EQ(::semop(set, &more, 1), 0);
  Alone child([](Seen& seen) {
    seen.works = 1;
    wait_until_over(seen);
    return 7;
  });
  child.wait();
  EXPECT_FALSE(may_undo_semaphores(child.process()));
  const auto captured = look_and_capture(child.process());
  EXPECT_TRUE(captured) << captured.error().text();
  EXPECT_EQ(child.tell_end(), 7);
  ::semctl(set, 0, IPC_RMID);
}

}  // namespace
}  // namespace perdure::process
