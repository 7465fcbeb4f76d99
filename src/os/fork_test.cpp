#include "os/fork.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "os/file.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

using test_support::TemporaryDirectory;

/// A child that lives until this object is destroyed. It has run `first` before the constructor returns.
class Child {
 public:
  explicit Child(const std::function<bool()>& first) {
    int report[2];
    if (::pipe(report) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      const bool good = first();
      [[maybe_unused]] const ssize_t written = ::write(report[1], &good, sizeof good);
      for (;;) ::pause();
    }
    if (::read(report[0], &good_, sizeof good_) != sizeof good_) good_ = false;
    ::close(report[0]);
    ::close(report[1]);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  bool good() const { return good_; }

 private:
  pid_t pid_ = -1;
  bool good_ = false;
};

bool is_regular(int fd) {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}
bool is_placeholder(int fd) {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && S_ISCHR(facts.st_mode);
}

TEST(Fork, AChildThatLivesOnDoesNotHoldTheLockOfItsParent) {
  const TemporaryDirectory directory;
  File lock = File::open(directory / "lock", Open::create).value();
  ASSERT_TRUE(lock.try_lock());
  keep_from_children(lock.fd());
  const Child child([&] { return is_placeholder(lock.fd()); });
  EXPECT_TRUE(child.good());
  const File other = File::open(directory / "lock", Open::read).value();
  EXPECT_EQ(other.try_lock().error().code, PERDURE_BUSY) << "the parent's lock must stay";
  lock = File();
  EXPECT_TRUE(other.try_lock());
}

TEST(Fork, AClosedDescriptorsNumberIsInheritedAgain) {
  const TemporaryDirectory directory;
  int number = -1;
  {
    const File kept = File::open(directory / "kept", Open::create).value();
    keep_from_children(number = kept.fd());
  }
  const File next = File::open(directory / "next", Open::create).value();
  ASSERT_EQ(next.fd(), number) << "the lowest free number is given";
  EXPECT_TRUE(Child([&] { return is_regular(number); }).good());
}

TEST(Fork, NumbersThatNobodyHasAreNoTrouble) {
  keep_from_children(-1);
  keep_from_children(1 << 30);
  forget_descriptor(-1);
  forget_descriptor(1 << 30);
  EXPECT_TRUE(Child([] { return true; }).good());
}

}  // namespace
}  // namespace perdure::os
