#include "os/write_protection.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include "os/hooks.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::os {
namespace {

/// Maps memory and protects it; skipped if the system has no protection.
class Protection : public ::testing::Test {
 protected:
  static constexpr std::size_t kPage = 4096, kPages = 64, kBytes = kPage * kPages;
  void SetUp() override {
    auto opened = WriteProtection::open();
    if (!opened) GTEST_SKIP() << opened.error().text();
    protection_.emplace(std::move(*opened));
    memory_ = static_cast<volatile char*>(
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(address(), reinterpret_cast<std::uint64_t>(MAP_FAILED));
  }
  void TearDown() override {
    if (memory_ == nullptr) return;
    protection_->release(address(), address() + kBytes);
    ::munmap(const_cast<char*>(memory_), kBytes);
  }
  std::uint64_t address(std::size_t page = 0) const { return reinterpret_cast<std::uint64_t>(memory_) + page * kPage; }
  /// Waits for the next event, however long it takes.
  WriteEvent next() const {
    std::array<WriteEvent, WriteProtection::kMostEvents> events;
    for (;;) {
      pollfd ready{protection_->fd(), POLLIN, 0};
      ::poll(&ready, 1, -1);
      if (protection_->read(events) > 0) return events[0];
    }
  }

  std::optional<WriteProtection> protection_;
  volatile char* memory_ = nullptr;
};

TEST_F(Protection, LetsAWriteWaitUntilItIsAllowed) {
  for (std::size_t page = 0; page < kPages / 2; ++page) memory_[page * kPage] = 1;  // the others were never touched
  ASSERT_TRUE(protection_->protect(address(), address() + kBytes));
  for (const std::size_t page : {std::size_t{3}, kPages - 1}) {
    std::atomic<bool> written = false;
    std::thread writer([&] {
      memory_[page * kPage + 5] = 2;
      written = true;
    });
    const WriteEvent event = next();
    EXPECT_EQ(event.what, WriteEvent::What::write);
    EXPECT_EQ(event.begin, address(page));
    EXPECT_EQ(event.end, address(page + 1));
    EXPECT_FALSE(written);
    EXPECT_EQ(memory_[page * kPage + 5], 0);
    EXPECT_EQ(protection_->allow(event.begin, event.end), WriteProtection::Answer::done);
    writer.join();
    EXPECT_EQ(memory_[page * kPage + 5], 2);
  }
}

TEST_F(Protection, LetsAWriteOfTheKernelWaitWhereItReachesThat) {
  ASSERT_TRUE(protection_->protect(address(), address() + kBytes));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "seven", 5), 5);
  ssize_t got = 0;
  int error = 0;
  std::thread reader([&] {
    got = ::read(ends[0], const_cast<char*>(memory_) + 2 * kPage, 5);
    error = errno;
  });
  if (protection_->reach() == WriteReach::all) {
    const WriteEvent event = next();
    EXPECT_EQ(event.begin, address(2));
    (void)protection_->allow(event.begin, event.end);
  }
  reader.join();
  const bool waited = protection_->reach() == WriteReach::all;
  EXPECT_EQ(waited ? got : error, waited ? 5 : EFAULT);
  for (const int end : ends) ::close(end);
}

TEST_F(Protection, OfTheProgramAloneRefusesWritesOfTheKernel) {
  struct : Hooks {
    int before(const Operation& operation) override {
      return std::string_view(operation.call) == "userfaultfd" && operation.path != "program" ? EPERM : 0;
    }
  } hooks;
  const test_support::InstalledHooks installed(hooks);
  auto opened = WriteProtection::open();
  if (!opened) GTEST_SKIP() << opened.error().text();
  EXPECT_EQ(opened->reach(), WriteReach::program);
  ASSERT_TRUE(opened->protect(address(), address() + kBytes));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "seven", 5), 5);
  EXPECT_EQ(::read(ends[0], const_cast<char*>(memory_), 5), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_TRUE(opened->release(address(), address() + kBytes));
  for (const int end : ends) ::close(end);
}

TEST_F(Protection, WhereNobodyMayHaveItIsUnsupported) {
  struct : Hooks {
    int before(const Operation& operation) override {
      return std::string_view(operation.call) == "userfaultfd" ? EPERM : 0;
    }
  } hooks;
  const test_support::InstalledHooks installed(hooks);
  const auto opened = WriteProtection::open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, PERDURE_UNSUPPORTED);
}

TEST_F(Protection, IsOfOneAtATime) {
  ASSERT_TRUE(protection_->protect(address(), address() + kBytes));
  const auto other = WriteProtection::open();
  ASSERT_TRUE(other);
  const auto refused = other->protect(address(1), address(2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_BUSY);
  ASSERT_TRUE(protection_->release(address(), address() + kBytes));
  EXPECT_TRUE(other->protect(address(1), address(2)));
  EXPECT_TRUE(other->release(address(1), address(2)));
}

TEST_F(Protection, TellsOfMemoryThatIsDroppedMovedOrUnmapped) {
  memory_[0] = 1;
  ASSERT_TRUE(protection_->protect(address(), address() + kBytes));
  char* const begin = const_cast<char*>(memory_);
  for (const int way : {0, 1, 2}) {
    const std::size_t page = 2 + 2 * static_cast<std::size_t>(way);
    std::atomic<void*> moved = nullptr;
    std::thread changing([&] {
      if (way == 0) ::madvise(begin + page * kPage, kPage, MADV_DONTNEED);
      if (way == 1) ::munmap(begin + page * kPage, kPage);
      if (way == 2)
        moved = ::mremap(begin + page * kPage, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, begin + 40 * kPage);
    });
    bool found = false;
    while (!found) {
      const WriteEvent event = next();
      EXPECT_EQ(event.what, WriteEvent::What::gone);
      found = event.begin <= address(page) && address(page) < event.end;
    }
    for (std::array<WriteEvent, WriteProtection::kMostEvents> more; protection_->changes();) protection_->read(more);
    changing.join();
    if (way > 0) {
      EXPECT_EQ(protection_->allow(address(page), address(page + 1)), WriteProtection::Answer::gone);
    }
  }
}

TEST_F(Protection, DoesNotReachWhoIsForked) {
  memory_[0] = 1;
  ASSERT_TRUE(protection_->protect(address(), address() + kBytes));
  const pid_t child = ::fork();
  if (child == 0) {
    for (std::size_t page = 0; page < kPages; ++page) memory_[page * kPage] = 3;
    ::_exit(memory_[0] == 3 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::array<WriteEvent, WriteProtection::kMostEvents> events;
  EXPECT_EQ(protection_->read(events), 0U);
  EXPECT_EQ(memory_[0], 1);
}

TEST_F(Protection, IsRefusedForMemoryOfFiles) {
  void* shared = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, ::fileno(::tmpfile()), 0);
  const auto begin = reinterpret_cast<std::uint64_t>(shared);
  EXPECT_FALSE(protection_->protect(begin, begin + kPage));
  ::munmap(shared, kBytes);
}

}  // namespace
}  // namespace perdure::os
