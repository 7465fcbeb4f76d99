#pragma once
// Starts children that do one task for a test. The test captures and resumes them meanwhile.
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <functional>

#include "process/captured_testing.hpp"
#include "process/memory_maps.hpp"
#include "process/proc_text.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {

/// Memory that a test and its child share.
struct Seen {
  std::atomic<int> works{0}, over{0}, count{0};
};

/// A child that does `work` and ends with its result. It has none of our descriptors.
class Alone {
 public:
  /// `number`: the wanted process number; 0 means any. The kernel must permit the choice.
  explicit Alone(const std::function<int(Seen&)>& work, pid_t number = 0)
      : seen_(new (::mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Seen) {
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    arguments.set_tid = reinterpret_cast<std::uint64_t>(&number);
    arguments.set_tid_size = 1;
    process_ = number == 0 ? ::fork() : static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
    if (process_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close_range(0, ~0U, 0);
    for (int i = 0; i < 3; ++i) (void)::open("/dev/null", O_RDWR);
    ::_exit(work(*seen_));
  }
  ~Alone() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      (void)end();
    }
    ::munmap(seen_, sizeof(Seen));
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  pid_t process() const { return process_; }
  Seen& seen() { return *seen_; }
  /// Waits until the child says that it works.
  void wait() const {
    EXPECT_TRUE(test_support::eventually("the child works", [this] { return seen_->works != 0; }));
  }
  /// A thread of its parent traces it. If the child ended just then, the kernel told that thread.
  static constexpr int kToldToTracer = -1000;
  int end() {
    int status = 0;
    const pid_t ended = ::waitpid(process_, &status, 0);
    if (ended < 0 && errno == ECHILD && ::kill(process_, 0) != 0) {
      process_ = 0;
      return kToldToTracer;
    }
    EXPECT_EQ(ended, process_);
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int tell_end() {
    seen_->over = 1;
    return end();
  }
  void lives_again(pid_t process) { process_ = process; }

 private:
  Seen* seen_;
  pid_t process_ = 0;
};

/// The child waits until it is told to end. A resumed child is told through a file.
inline void wait_until_over(const Seen& seen) {
  while (seen.over == 0) ::usleep(500);  // wait: it is captured meanwhile, and its parent ends it
}
inline void wait_until_over(const std::string& file) {
  while (::access(file.c_str(), F_OK) != 0) ::usleep(500);  // wait: it is captured meanwhile, and its parent ends it
}

/// Maps all free addresses of the child.
inline int takes_all_addresses(Seen& seen) {
  std::uint64_t at = 0x10000;
  const auto maps = parse_maps(proc_text("/proc/self/maps"), "");
  const auto take = [&](std::uint64_t end) {
    if (at < end)
      (void)::mmap(reinterpret_cast<void*>(at), end - at, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  };
  for (const auto& map : *maps) {
    take(std::min(map.begin, kAddressEnd));
    at = std::max(at, map.end);
  }
  take(kAddressEnd);
  seen.works = 1;
  wait_until_over(seen);
  return 7;
}

/// Kills and resumes the child.
inline void dies_and_comes_back(Alone& child, const CapturedImage& captured) {
  const pid_t number = child.process();
  ::kill(number, SIGKILL);
  ASSERT_EQ(child.end(), -SIGKILL);
  const auto again = resume_from_memory(captured);
  ASSERT_TRUE(again) << again.error().text();
  child.lives_again(number);
}

/// Captures, kills and resumes the child, which ends normally.
inline void goes_on_elsewhere(Alone& child, const std::string& over) {
  const auto captured = capture_to_memory(child.process());
  ASSERT_TRUE(captured) << captured.error().text();
  dies_and_comes_back(child, *captured);
  if (testing::Test::HasFatalFailure()) return;
  std::ofstream(over) << "now";
  EXPECT_EQ(child.end(), 7);
}

/// Captures, kills and resumes a child. It must then find everything as before.
inline void is_the_same_brought_back(const std::function<int(Seen&, const std::string& over)>& work,
                                     const char* where) {
  SCOPED_TRACE(where);
  test_support::TemporaryDirectory here;
  const std::string over = here / "over";
  Alone child([&](Seen& seen) { return work(seen, over); });
  child.wait();
  if (child.seen().works < 0) GTEST_SKIP() << "this kernel cannot";
  goes_on_elsewhere(child, over);
}

}  // namespace perdure::process
