// Tests programs that were once refused wrongly, or resumed with differences.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstring>
#include <thread>

#include "process/alone_testing.hpp"
#include "process/descriptors_testing.hpp"
#include "process/proc_lists.hpp"
#include "process/proc_text.hpp"
#include "process/shared_contents.hpp"
#include "process/stops.hpp"
#include "process/tree_testing.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(StoppedPrograms, StayStoppedAndComeBackStopped) {
  test_support::TemporaryDirectory here;
  const std::string over = here / "over";
  Alone child([&](Seen& seen) {
    std::thread other([] {
      for (;;) ::pause();
    });
    other.detach();
    seen.works = 1;
    wait_until_over(over);
    return 7;
  });
  child.wait();
  const pid_t number = child.process();
  const auto is_stopped = [number] { return state_of(number) == 'T'; };
  ASSERT_EQ(::kill(number, SIGSTOP), 0);
  ASSERT_TRUE(test_support::eventually("it is stopped", is_stopped));
  const auto captured = capture_to_memory(number);
  ASSERT_TRUE(captured) << captured.error().text();
  EXPECT_TRUE(captured->image.state.stopped);
  EXPECT_TRUE(test_support::eventually("it is stopped again", is_stopped));
  dies_and_comes_back(child, *captured);
  if (HasFatalFailure()) return;
  std::ofstream(over) << "now";
  EXPECT_TRUE(test_support::eventually("it came back stopped", is_stopped));
  EXPECT_EQ(::kill(number, SIGCONT), 0);
  EXPECT_EQ(child.end(), 7);
}

TEST(StoppedPrograms, AreNoneThatWait) {
  Alone child([](Seen& seen) {
    seen.works = 1;
    wait_until_over(seen);
    return 7;
  });
  child.wait();
  const auto captured = capture_to_memory(child.process());
  ASSERT_TRUE(captured) << captured.error().text();
  EXPECT_FALSE(captured->image.state.stopped);
  EXPECT_EQ(child.tell_end(), 7);
}

TEST(TakenNumbers, OfZombiesSayThatTheyAreSome) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_TRUE(test_support::eventually("it has ended", [child] { return state_of(child) == 'Z'; }));
  EXPECT_THAT(taken_text(child), HasSubstr("(a zombie)"));
  EXPECT_THAT(taken_text(child), HasSubstr("process " + std::to_string(::getpid()) + ", has not waited for"));
  ::waitpid(child, nullptr, 0);
}

TEST(Limits, AreReadOfAnotherUserWithoutAPrivilege) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  Alone child([](Seen& seen) {
    const rlimit files{100, 200};
    constexpr uid_t kNobody = 65534;
    const bool other = ::setrlimit(RLIMIT_NOFILE, &files) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
                       ::setresuid(kNobody, kNobody, kNobody) == 0;
    seen.works = other ? 1 : -1;
    wait_until_over(seen);
    return 7;
  });
  child.wait();
  ASSERT_EQ(child.seen().works, 1);
  base::Result<CapturedImage> captured = base::fail(PERDURE_INTERNAL, "", "");
  std::thread([&] {  // this thread has one privilege less than the test
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> sets{};
    ::syscall(SYS_capget, &header, sets.data());
    sets[CAP_TO_INDEX(CAP_SYS_RESOURCE)].effective &= ~CAP_TO_MASK(CAP_SYS_RESOURCE);
    ::syscall(SYS_capset, &header, sets.data());
    captured = capture_to_memory(child.process());
  })
      .join();
  EXPECT_EQ(child.tell_end(), 7);
  ASSERT_TRUE(captured) << captured.error().text();
  ASSERT_THAT(captured->image.limits, SizeIs(RLIM_NLIMITS));
  EXPECT_EQ(captured->image.limits[RLIMIT_NOFILE].now, 100U);
  EXPECT_EQ(captured->image.limits[RLIMIT_NOFILE].most, 200U);
}

std::string obstacles_of(pid_t process) {
  const auto seen = look_for_obstacles(process, {});
  return seen ? "" : seen.error().text();
}

TEST(WhatIsInTheWay, IsNamedForWhatItIs) {
  DescriptorChild child([]() -> std::string {
    const auto name = "perdure-" + std::to_string(::getpid());
    const auto queue = static_cast<int>(::syscall(SYS_mq_open, name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600, nullptr));
    ::syscall(SYS_mq_unlink, name.c_str());
    const auto secret = static_cast<int>(::syscall(SYS_memfd_secret, 0));
    if (secret >= 0) {
      PERDURE_EXPECT(::ftruncate(secret, 4096) == 0);
      PERDURE_EXPECT(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, secret, 0) != MAP_FAILED);
    }
    return std::string(queue >= 0 ? "queue " : "") + (secret >= 0 ? "secret" : "");
  });
  const std::string has = child.said();
  const std::string text = obstacles_of(child.process());
  if (has.empty()) GTEST_SKIP() << "this kernel has neither";
  EXPECT_THAT(text, testing::Not(HasSubstr("its name leads to another file")));
  if (has.find("queue") != std::string::npos) {
    EXPECT_THAT(text, HasSubstr("a POSIX message queue"));
  }
  if (has.find("secret") == std::string::npos) return;
  EXPECT_THAT(text, HasSubstr("secret memory (memfd_secret)"));
  EXPECT_THAT(text, HasSubstr("its memory map '/secretmem"));
}

constexpr std::size_t kMapped = 2 * kPageBytes;

/// As the C library and Python do with a semaphore: the file is only mapped, and has no name.
char* map_without_a_name(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0 || ::ftruncate(file, kMapped) != 0) return nullptr;
  void* mapped = ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  ::unlink(path.c_str());
  return mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
}

TEST(FilesWithoutAName, ThatAreMappedComeBackWithTheirContent) {
  test_support::TemporaryDirectory here;
  const std::string over = here / "over";
  Alone child([&](Seen& seen) {
    char* const mapped = map_without_a_name(here / "semaphore");
    if (mapped != nullptr) std::strcpy(mapped + kPageBytes, "content");
    seen.works = mapped != nullptr ? 1 : -1;
    wait_until_over(over);
    return std::string(mapped + kPageBytes) == "content" && mapped[0] == 0 ? 7 : 1;
  });
  child.wait();
  ASSERT_EQ(child.seen().works, 1);
  EXPECT_EQ(obstacles_of(child.process()), "");
  goes_on_elsewhere(child, over);
}

TEST(FilesWithoutAName, ThatAnotherProcessHasAreInTheWay) {
  test_support::TemporaryDirectory here;
  char* const mapped = map_without_a_name(here / "semaphore");
  ASSERT_NE(mapped, nullptr);
  Alone child([](Seen& seen) {
    seen.works = 1;
    wait_until_over(seen);
    return 7;
  });
  child.wait();
  EXPECT_THAT(obstacles_of(child.process()), HasSubstr("another process has that file, too"));
  ::munmap(mapped, kMapped);
  EXPECT_EQ(obstacles_of(child.process()), "");
  EXPECT_EQ(child.tell_end(), 7);
}

/// Makes a parent and a child that communicate through such memory.
void talk(char* mapped, const std::string& over) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    wait_until_over(over);
    mapped[0] = 5;
    ::_exit(mapped[1] == 3 ? 4 : 1);
  }
  mapped[1] = 3;
  mapped[2] = 1;  // both are there
  wait_until_over(over);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::_exit(mapped[0] == 5 && WIFEXITED(status) && WEXITSTATUS(status) == 4 ? 7 : 2);
}

TEST(FilesWithoutAName, ThatATreeSharesAreSharedAgain) {
  const Adoption adoption;
  test_support::TemporaryDirectory here;
  const std::string over = here / "over";
  Alone child([&](Seen& seen) {
    char* const mapped = map_without_a_name(here / "semaphore");
    ::munmap(&seen, sizeof seen);
    if (mapped != nullptr) talk(mapped, over);
    return 3;
  });
  const pid_t number = child.process();
  ASSERT_TRUE(test_support::eventually("its child is there", [&] { return list_tree(number).size() == 2; }));
  auto captured = capture_tree_to_memory(number);
  ASSERT_TRUE(captured) << captured.error().text();
  for (const pid_t one : list_tree(number)) ::kill(one, SIGKILL);
  child.lives_again(0);
  Adoption::wait_for_all();
  const auto again = resume_tree_from_memory(*captured);
  ASSERT_TRUE(again) << again.error().text();
  child.lives_again(number);
  std::ofstream(over) << "now";
  EXPECT_EQ(child.end(), 7);
}

/// Counts in its own memory and in a file.
int counts_in_a_file(Seen& seen, const std::string& path, const std::string& over, bool goes_on) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ::ftruncate(file, kMapped) != 0) return 1;
  auto* const count = static_cast<volatile int*>(::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  ::close(file);
  *count = 1;
  while (::access(over.c_str(), F_OK) != 0) {
    if (goes_on) *count = *count + 1;
    seen.count = *count;
    seen.works = 1;
    ::usleep(200);  // wait: it is captured meanwhile
  }
  return 7;
}

/// Returns the notes of a resume. `goes_on`: the program's file changed after the capture.
std::vector<std::string> notes_of_a_file(bool goes_on) {
  test_support::TemporaryDirectory here;
  const std::string over = here / "over";
  Alone child([&](Seen& seen) { return counts_in_a_file(seen, here / "file", over, goes_on); });
  child.wait();
  const pid_t number = child.process();
  const auto captured = capture_to_memory(number);
  EXPECT_TRUE(captured) << captured.error().text();
  if (!captured) return {};
  const int count = child.seen().count;
  if (goes_on) {
    EXPECT_TRUE(test_support::eventually("it goes on", [&] { return child.seen().count > count + 3; }));
  }
  ::kill(number, SIGKILL);
  EXPECT_EQ(child.end(), -SIGKILL);
  ImageTarget target([](ProcessImage&, Operations&) { return base::Status(); });
  EXPECT_TRUE(write_to(target, *captured, 1 << 20));
  EXPECT_TRUE(target.finish());
  EXPECT_TRUE(target.release());
  child.lives_again(number);
  std::ofstream(over) << "now";
  EXPECT_EQ(child.end(), 7);
  return target.notes();
}

TEST(FilesThatAreWrittenByMemory, AreComparedWhenTheProgramIsBroughtBack) {
  EXPECT_THAT(notes_of_a_file(true), testing::Contains(HasSubstr("has other content than when it was captured")));
  EXPECT_THAT(notes_of_a_file(false), testing::Not(testing::Contains(HasSubstr("other content"))));
}

TEST(FilesThatAreWrittenByMemory, AreTheSameWithHolesOrZerosAndMayBeTooLong) {
  test_support::TemporaryDirectory here;
  const std::string path = here / "file";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  constexpr std::uint64_t kLong = 4 * base::MiB;
  ASSERT_EQ(::ftruncate(file, kLong), 0);
  ASSERT_EQ(::pwrite(file, "x", 1, kLong / 2), 1);
  ProcessImage image;
  struct stat status {};
  ASSERT_EQ(::fstat(file, &status), 0);
  image.files = {{path, status.st_dev, status.st_ino, kLong, 0}};
  MapImage map;
  map.end = kLong;
  map.protection = PROT_READ | PROT_WRITE;
  map.shared = true;
  map.file = 1;
  image.maps = {map};
  EXPECT_THAT(add_shared_contents(image, kLong), testing::IsEmpty());
  ASSERT_TRUE(image.maps[0].content);
  const std::vector<char> zeros(1 << 20);
  ASSERT_EQ(::pwrite(file, zeros.data(), zeros.size(), 0), 1 << 20);
  EXPECT_THAT(changed_contents(image), testing::IsEmpty()) << "zeros are as a hole";
  ASSERT_EQ(::pwrite(file, "y", 1, kLong - 1), 1);
  EXPECT_THAT(changed_contents(image), SizeIs(1));
  image.maps[0].content.reset();
  EXPECT_THAT(add_shared_contents(image, 1 << 16), testing::ElementsAre(HasSubstr("is not compared")));
  EXPECT_FALSE(image.maps[0].content);
  image.maps[0].shared = false;
  EXPECT_THAT(add_shared_contents(image, kLong), testing::IsEmpty());
  EXPECT_FALSE(image.maps[0].content) << "what it writes there is its own";
  ::close(file);
}

TEST(TreesThatComeAndGo, AreLookedAtWhenTheyStandStill) {
  const Adoption adoption;
  test_support::TemporaryDirectory here;
  const std::string loop = "cd " + (here / "") + " && i=0; while [ ! -e go ]; do x=$(echo $i | tr 1 2); i=$((i+1)); " +
                           "[ $i -ge 2 ] && : >begun; done; exit 7";
  Program shell({"/bin/sh", "-c", loop}, here / "output");
  ASSERT_TRUE(test_support::eventually("the loop runs", [&] { return ::access((here / "begun").c_str(), F_OK) == 0; }));
  for (int times = 0; times < 25; ++times) {
    const auto captured = capture_tree_to_memory(shell.process());
    EXPECT_TRUE(captured) << times << ": " << captured.error().text();
    if (!captured) break;
  }
  std::ofstream(here / "go") << "now";
  EXPECT_EQ(shell.end(), 7);
}

}  // namespace
}  // namespace perdure::process
