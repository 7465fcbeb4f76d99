#pragma once
// Starts children for tests of descriptors. They have open only what they open themselves.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>

#include "support/eventually.hpp"

namespace perdure::process {

/// Does `work`, reports the result, and waits until it is told to continue or killed. Its first three descriptors are
/// /dev/null.
class DescriptorChild {
 public:
  /// An empty result of `work` means success; the test interprets other texts.
  using Work = std::function<std::string()>;
  explicit DescriptorChild(const Work& work, const Work& later = {}, bool clean = true) {
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    shared_ = new (memory) Shared();
    process_ = ::fork();
    if (process_ == 0) live(work, later, clean);
    wait_for(1);
  }
  ~DescriptorChild() {
    end();
    ::munmap(shared_, sizeof(Shared));
  }
  DescriptorChild(const DescriptorChild&) = delete;
  DescriptorChild& operator=(const DescriptorChild&) = delete;
  pid_t process() const { return process_; }
  /// Returns the result of its work.
  std::string said() const { return shared_->text.data(); }
  /// Runs `later` now, and returns its result.
  std::string go_on() {
    shared_->stage = 2;
    wait_for(3);
    return said();
  }
  void end() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    EXPECT_EQ(::waitpid(process_, nullptr, 0), process_);
    process_ = 0;
  }

 private:
  struct Shared {
    std::atomic<int> stage{0};
    std::array<char, 4000> text{};
  };
  void say(const std::string& text) {
    shared_->text.fill('\0');
    std::copy_n(text.begin(), std::min(text.size(), shared_->text.size() - 1), shared_->text.begin());
  }
  [[noreturn]] void live(const Work& work, const Work& later, bool clean) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (clean) {
      const int null = ::open("/dev/null", O_RDWR);
      for (const int one : {0, 1, 2}) ::dup2(null, one);
      ::close_range(3, ~0U, 0);
    }
    say(work());
    shared_->stage = 1;
    while (shared_->stage != 2) ::usleep(500);  // wait: it is looked at meanwhile, and its parent ends it
    say(later ? later() : "");
    shared_->stage = 3;
    for (;;) ::pause();
  }
  void wait_for(int stage) {
    EXPECT_TRUE(test_support::eventually("the child has come so far, or has ended", [&] {
      return shared_->stage >= stage || ::waitpid(process_, nullptr, WNOHANG) != 0;
    }));
    EXPECT_GE(shared_->stage, stage) << "the child has ended";
    if (shared_->stage < stage) process_ = 0;
  }
  pid_t process_ = 0;
  Shared* shared_ = nullptr;
};

/// Returns "" or the failed condition with its line: for children, which have no test framework.
#define PERDURE_EXPECT(...)                                                                                     \
  do {                                                                                                          \
    if (!(__VA_ARGS__)) return std::to_string(__LINE__) + ": " #__VA_ARGS__ ", errno " + std::to_string(errno); \
  } while (false)

}  // namespace perdure::process
