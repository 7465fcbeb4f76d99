// A capture on write contains the memory at the call, to the byte, whatever the program does meanwhile.
#include "client/write/protected_copy.hpp"

#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "os/affinity.hpp"
#include "os/hooks.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"

namespace perdure::client {
namespace {

using capture::CopyPart;

/// Stops the thread that answers until it is told otherwise.
class HeldAnswers : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    if (std::string_view(operation.call) == "thread_body" && operation.path == "copy on write") held_.wait(true);
    return 0;
  }
  void let_go() {
    held_ = false;
    held_.notify_all();
  }

 private:
  std::atomic<bool> held_ = true;
};

/// A thread that publishes its number and then makes an access that has to wait.
class Waiting {
 public:
  explicit Waiting(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          number_ = os::thread_number();
          work();
        }) {}
  /// Returns when it sleeps.
  void await() const {
    EXPECT_TRUE(test_support::eventually("the thread sleeps",
                                         [this] { return number_ != 0 && (state() == 'S' || state() == 'D'); }));
  }
  void join() { thread_.join(); }

 private:
  char state() const {
    std::ifstream file("/proc/self/task/" + std::to_string(number_) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto name_ends = text.rfind(')');
    return name_ends == std::string::npos || name_ends + 2 >= text.size() ? '?' : text[name_ends + 2];
  }
  std::atomic<int> number_ = 0;
  std::thread thread_;
};

std::set<int> threads_here() {
  std::set<int> numbers;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    numbers.insert(std::stoi(entry.path().filename()));
  return numbers;
}

std::vector<unsigned> first_two(const os::CpuSet& cpus) {
  std::vector<unsigned> numbers;
  for (unsigned i = 0; i < os::CpuSet::kMost && numbers.size() < 2; ++i)
    if (cpus.contains(i)) numbers.push_back(i);
  return numbers;
}

class Copying : public ::testing::Test {
 protected:
  static constexpr std::size_t kPage = 4096, kMemory = 4 << 20, kBlock = 16 << 10;
  static constexpr CopyLimits kLimits{kBlock, kPage};

  void SetUp() override {
    if (const auto opened = os::WriteProtection::open(); !opened) GTEST_SKIP() << opened.error().text();
    memory_ = map(MAP_PRIVATE | MAP_ANONYMOUS);
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < kMemory / 2; i += 8) put(i, random());  // the rest was never touched
  }
  void TearDown() override {
    if (memory_ != nullptr) ::munmap(memory_, kMemory);
  }
  static std::byte* map(int flags, void* at = nullptr) {
    void* memory = ::mmap(at, kMemory, PROT_READ | PROT_WRITE, flags, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return static_cast<std::byte*>(memory);
  }
  static void fill_gap(std::byte* at, std::size_t pages) {
    void* const filled =
        ::mmap(at, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    EXPECT_EQ(filled, at);
  }
  void put(std::size_t at, std::uint64_t word) const { std::memcpy(memory_ + at, &word, 8); }
  std::uint64_t address(std::size_t at = 0) const { return reinterpret_cast<std::uint64_t>(memory_) + at; }

  /// Takes parts with edges, one after the other in the copy, with their content.
  void take_parts(const std::vector<std::pair<std::size_t, std::size_t>>& ranges) {
    std::size_t bytes = 0;
    for (const auto& [begin, end] : ranges) bytes += end - begin;
    copy_.assign(bytes, std::byte{0xee});
    expected_.clear();
    parts_.clear();
    for (const auto& [begin, end] : ranges) {
      parts_.push_back({address(begin), address(end), copy_.data() + expected_.size()});
      expected_.insert(expected_.end(), memory_ + begin, memory_ + end);
    }
  }
  void take_all() { take_parts({{0, kMemory}}); }
  std::unique_ptr<ProtectedCopy> begin() const {
    auto begun = ProtectedCopy::begin(parts_, os::WriteReach::program, kLimits);
    EXPECT_TRUE(begun) << begun.error().text();
    return begun ? std::move(*begun) : nullptr;
  }
  static base::Status complete(ProtectedCopy& copy) {
    const std::size_t blocks = copy.blocks();
    for (std::size_t block = 0; block < blocks; ++block) PERDURE_CHECK(copy.complete(block));
    return {};
  }
  void expect_exact() const {
    for (std::size_t i = 0; i < expected_.size(); ++i)
      ASSERT_EQ(copy_[i], expected_[i]) << "byte " << i << " of " << expected_.size();
  }

  std::byte* memory_ = nullptr;
  std::vector<std::byte> copy_, expected_;
  std::vector<CopyPart> parts_;
};

// No event reports that: only the copy itself fails. Data that was not copied must not count as copied.
TEST_F(Copying, OfMemoryThatCannotBeReadIsAnError) {
  for (const std::size_t page : {std::size_t{0}, std::size_t{37}, kMemory / kPage - 1}) {
    take_all();
    const auto copy = begin();
    ASSERT_NE(copy, nullptr);
    ASSERT_EQ(::mprotect(memory_ + page * kPage, kPage, PROT_NONE), 0);
    const auto completed = complete(*copy);
    ASSERT_EQ(::mprotect(memory_ + page * kPage, kPage, PROT_READ | PROT_WRITE), 0);
    ASSERT_FALSE(completed) << "page " << page;
    EXPECT_EQ(completed.error().code, PERDURE_INVALID_ARGUMENT);
  }
}

/// The descriptors of this process that protect memory.
std::vector<int> protecting_descriptors() {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == "anon_inode:[userfaultfd]")
      found.push_back(std::stoi(entry.path().filename()));
  }
  return found;
}

// The program ends the protection itself, and no event reports it: copied memory may have been written before.
TEST_F(Copying, OfMemoryWhoseProtectionEndsWithoutAWordIsAnError) {
  take_all();
  const auto copy = begin();
  ASSERT_NE(copy, nullptr);
  ASSERT_TRUE(complete(*copy));
  uffdio_range page{address(10 * kBlock + 2 * kPage), kPage};
  std::size_t ended = 0;
  for (const int descriptor : protecting_descriptors())
    ended += ::ioctl(descriptor, UFFDIO_UNREGISTER, &page) == 0 ? 1 : 0;
  ASSERT_EQ(ended, 1U);
  put(10 * kBlock, 1);  // waits, is answered, and finds the memory around it open
  const auto completed = copy->complete(0);
  ASSERT_FALSE(completed);
  EXPECT_EQ(completed.error().code, PERDURE_INVALID_ARGUMENT);
}

// Each thread writes its own bytes: only they and the copier race.
TEST_F(Copying, IsExactWhileEightThreadsWriteAtRandom) {
  constexpr std::size_t kThreads = 8;
  const auto seeds = test_support::many_seeds(1, 20, 5);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    take_parts({{8, 1'000'000}, {1'000'000, 1'000'400}, {1'003'000, 2'800'001}, {2'900'000, kMemory}});
    std::atomic<bool> stop = false;
    std::vector<std::thread> writers;
    const auto copy = begin();
    ASSERT_NE(copy, nullptr);
    for (std::size_t thread = 0; thread < kThreads; ++thread)
      writers.emplace_back([&, thread, own = std::mt19937_64(random())]() mutable {
        for (int times = 0; times < 100 || !stop; ++times) {
          const std::size_t word = own() % (kMemory / 8 / kThreads) * kThreads + thread;
          put(word * 8, own());
        }
      });
    const auto completed = complete(*copy);
    copy->end();
    stop = true;
    for (auto& writer : writers) writer.join();
    ASSERT_TRUE(completed) << completed.error().text();
    expect_exact();
    EXPECT_NE(std::memcmp(memory_ + 8, copy_.data(), 900'000), 0) << "nobody wrote";
  }
}

TEST_F(Copying, IsExactWhereAllWasWrittenBeforeTheCopierCame) {
  take_all();
  const auto copy = begin();
  ASSERT_NE(copy, nullptr);
  for (std::size_t i = 0; i < kMemory; i += 64) put(i, ~std::uint64_t{0});
  EXPECT_EQ(copy->counts().waited_for, kMemory / kBlock);
  ASSERT_TRUE(complete(*copy));
  EXPECT_EQ(copy->counts().waited_for, kMemory / kBlock);
  expect_exact();
}

TEST_F(Copying, OpensWhatIsCopiedForWhoWritesToItAndCopiesNothingTwice) {
  take_all();
  const auto copy = begin();
  ASSERT_NE(copy, nullptr);
  ASSERT_TRUE(complete(*copy));
  for (std::size_t i = 0; i < kMemory; i += 5 * kPage) put(i, 3);
  for (std::size_t i = kMemory; i > 0; i -= kPage) put(i - kPage, 4);
  EXPECT_EQ(copy->counts().waited_for, 0U);
  expect_exact();
}

// On the copier's processor, the thread that answers would wait, and the writer for both.
TEST_F(Copying, KeepsTheThreadThatAnswersOffTheProcessorOfWhoCopies) {
  const os::CpuSet all = os::own_cpus();
  if (all.count() < 2) GTEST_SKIP() << "there is one processor";
  take_all();
  const std::set<int> before = threads_here();
  const auto copy = begin();
  std::set<int> threads = threads_here();
  for (const int number : before) threads.erase(number);
  ASSERT_EQ(threads.size(), 1U);
  const int answering = *threads.begin();
  for (int turn = 0; turn < 3; ++turn) {
    for (const unsigned here : first_two(all)) {
      os::use_cpus({here});
      const os::CpuSet others = all - os::CpuSet{here};
      EXPECT_TRUE(test_support::eventually("the thread that answers has moved", [&] {  // it may not have begun
        EXPECT_TRUE(copy->complete(0));
        return os::cpus_of_thread(answering) == others;
      }));
    }
  }
  os::use_cpus(all);
  EXPECT_TRUE(complete(*copy));
  expect_exact();
}

TEST_F(Copying, OfMemoryThatIsDroppedWhenItIsCopiedIsNoError) {
  take_all();
  const auto copy = begin();
  ASSERT_NE(copy, nullptr);
  ASSERT_TRUE(complete(*copy));
  std::byte* const at = memory_ + 100 * kPage;
  fill_gap(at, 30);
  ::madvise(at + 200 * kPage, 30 * kPage, MADV_DONTNEED);
  std::memset(memory_, 1, kMemory);
  EXPECT_TRUE(copy->complete(0));
  copy->end();
  expect_exact();
}

TEST_F(Copying, LetsAllBeWrittenWhenItHasEnded) {
  take_all();
  auto copy = begin();
  ASSERT_NE(copy, nullptr);
  ASSERT_TRUE(copy->complete(3));
  std::thread writer([&] {
    for (std::size_t i = 0; i < kMemory; i += kPage) put(i, 1);
  });
  copy.reset();
  writer.join();
  const auto again = begin();  // the first one has left nothing in its way
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->counts().copied_at_once, 0U);
}

TEST_F(Copying, TakesWhatTheKernelWritesForTheProgramAsAnyWrite) {
  const auto opened = os::WriteProtection::open();
  if (opened->reach() != os::WriteReach::all) GTEST_SKIP() << "writes of the kernel are refused here";
  take_all();
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::vector<char> text(3 * kPage, 'x');
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  const auto copy = begin();
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(::read(ends[0], memory_ + 100 * kPage + 7, text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(std::memcmp(memory_ + 100 * kPage + 7, text.data(), text.size()), 0);
  ASSERT_TRUE(complete(*copy));
  expect_exact();
  for (const int end : ends) ::close(end);
}

// The kernel reports writes before drops, and until then nobody can be answered: there are more writes than are kept.
TEST_F(Copying, AnswersMoreThreadsThanItKeepsInMindWhileMemoryIsDropped) {
  constexpr std::size_t kThreads = 300;
  static_assert(kMemory / kThreads > 2 * kPage);
  HeldAnswers held;
  const test_support::InstalledHooks installed(held);
  take_all();
  const auto copy = begin();
  ASSERT_NE(copy, nullptr);
  std::byte* const dropped = memory_ + kMemory - kBlock;
  ASSERT_TRUE(copy->complete(kMemory / kBlock - 1));
  std::vector<std::unique_ptr<Waiting>> all;
  for (std::size_t thread = 0; thread < kThreads; ++thread)
    all.push_back(std::make_unique<Waiting>([this, thread] { put(2 * thread * kPage, thread); }));
  all.push_back(std::make_unique<Waiting>([dropped] { ::madvise(dropped, kBlock, MADV_DONTNEED); }));
  for (const auto& one : all) one->await();
  held.let_go();
  for (const auto& one : all) one->join();
  const auto completed = complete(*copy);
  ASSERT_TRUE(completed) << completed.error().text();
  copy->end();
  expect_exact();
  for (std::size_t thread = 0; thread < kThreads; ++thread)
    EXPECT_EQ(std::memcmp(memory_ + 2 * thread * kPage, &thread, 8), 0) << thread;
}

// If the kernel's writes do not wait, they fail: but not longer than they have to.
TEST_F(Copying, LetsTheKernelWriteToWhatIsCopiedWhereItsWritesCannotWait) {
  struct : os::Hooks {
    int before(const os::Operation& operation) override {
      return std::string_view(operation.call) == "userfaultfd" && operation.path != "program" ? EPERM : 0;
    }
  } hooks;
  const test_support::InstalledHooks installed(hooks);
  ASSERT_EQ(os::WriteProtection::open()->reach(), os::WriteReach::program);
  take_all();
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  const auto copy = begin();
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(::read(ends[0], memory_ + 100 * kPage, 1), -1);
  ASSERT_TRUE(complete(*copy));
  EXPECT_EQ(::read(ends[0], memory_ + 100 * kPage, 1), 1);
  expect_exact();
  for (const int end : ends) ::close(end);
}

TEST_F(Copying, IsAnErrorWhereMemoryIsDroppedAndTheProgramGoesOn) {
  for (const int way : {0, 1, 2, 3}) {
    SCOPED_TRACE("way " + std::to_string(way));
    take_all();
    const auto copy = begin();
    ASSERT_NE(copy, nullptr);
    std::byte* const at = memory_ + 200 * kPage;
    void* moved = nullptr;
    if (way == 0) ::madvise(at, 10 * kPage, MADV_DONTNEED);
    if (way == 1) ::munmap(at, 10 * kPage);
    if (way == 2) moved = ::mremap(at, 10 * kPage, 20 * kPage, MREMAP_MAYMOVE);
    if (way == 3) fill_gap(at, 10);  // another mapping in its place
    std::thread writer([&] {
      if (moved != nullptr) std::memset(moved, 1, 20 * kPage);
      if (way == 0 || way == 3) std::memset(at, 1, 10 * kPage);
      std::memset(memory_, 1, 200 * kPage);
    });
    const auto completed = complete(*copy);
    ASSERT_FALSE(completed);
    EXPECT_EQ(completed.error().code, PERDURE_INVALID_ARGUMENT);
    copy->end();
    writer.join();
    if (moved != nullptr) ::munmap(moved, 20 * kPage);
    if (way == 1 || way == 2) fill_gap(at, 10);
  }
}

TEST_F(Copying, IsExactOrAnErrorWhenItsMemoryIsReplacedAtAnyMoment) {
  unsigned exact = 0;
  const auto seeds = test_support::many_seeds(1, 60, 10);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < kMemory; i += 8) put(i, random());
    take_all();
    const auto copy = begin();
    ASSERT_NE(copy, nullptr);
    std::byte* const at = memory_ + random() % 1000 * kPage;
    const std::uint64_t way = random() % 3;
    std::thread changing([&, pause = random() % 1'000'000] {
      std::this_thread::sleep_for(std::chrono::nanoseconds(pause));  // wait: a drawn moment
      if (way == 0) ::madvise(at, 8 * kPage, MADV_DONTNEED);
      if (way == 1) fill_gap(at, 8);
      if (way == 2) ::mremap(at, 8 * kPage, 8 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, memory_ + 1010 * kPage);
    });
    const auto completed = complete(*copy);
    copy->end();
    changing.join();
    if (completed) {
      expect_exact();
      ++exact;
    }
    if (way == 2) fill_gap(at, 8);
  }
  RecordProperty("exact", static_cast<int>(exact));
}

TEST_F(Copying, IsExactWhenTheProgramForksAndTheChildNeitherWaitsNorKeepsAnybody) {
  take_all();
  auto copy = begin();
  ASSERT_NE(copy, nullptr);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    for (std::size_t i = 0; i < kMemory; i += kPage) put(i, 5);
    char byte = 0;
    ::_exit(::read(ends[0], &byte, 1) == 1 ? 0 : 1);  // it outlives the capture
  }
  for (std::size_t i = 0; i < kMemory; i += 3 * kPage) put(i, 6);
  ASSERT_TRUE(complete(*copy));
  copy.reset();
  for (std::size_t i = 0; i < kMemory; i += kPage) put(i, 7);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  expect_exact();
  for (const int end : ends) ::close(end);
}

TEST_F(Copying, OfMemoryThatAnotherOneProtectsIsDoneAtOnce) {
  take_all();
  const auto first = begin();
  ASSERT_NE(first, nullptr);
  const auto first_copy = std::move(copy_);
  take_all();
  const auto second = begin();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->counts().copied_at_once, kMemory);
  for (std::size_t i = 0; i < kMemory; i += kPage) put(i, 9);
  ASSERT_TRUE(complete(*second));
  ASSERT_TRUE(complete(*first));
  expect_exact();
  EXPECT_EQ(first_copy, expected_);
}

TEST_F(Copying, LeavesMemoryOfOtherMappingsToWhoCopiesAtOnce) {
  std::byte* const shared = map(MAP_SHARED | MAP_ANONYMOUS);
  const auto at = reinterpret_cast<std::uint64_t>(shared);
  std::vector<std::byte> target(kMemory);
  auto begun = ProtectedCopy::begin({{at, at + kMemory, target.data()}}, os::WriteReach::program, kLimits);
  ASSERT_TRUE(begun);
  EXPECT_EQ(*begun, nullptr);
  ASSERT_EQ(::mprotect(memory_, kMemory, PROT_READ), 0);
  begun = ProtectedCopy::begin({{address(), address(kMemory), target.data()}}, os::WriteReach::program, kLimits);
  ASSERT_TRUE(begun);
  EXPECT_EQ(*begun, nullptr);
  ::munmap(shared, kMemory);
}

// A thread that holds the allocator's lock may be the one that waits: the allocator writes to freed memory of a region.
TEST_F(Copying, AnswersAnAllocatorThatWaitsWithItsLockHeld) {
  for (int round = 0; round < test_support::unless_sanitized(50, 5); ++round) {
    constexpr std::size_t kBytes = 100'000;  // below what malloc maps by itself
    std::vector<void*> all;
    for (int i = 0; i < 20; ++i) all.push_back(std::memset(std::malloc(kBytes), round, kBytes));
    std::vector<std::byte> target(20 * kBytes);
    std::vector<CopyPart> parts;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto at = reinterpret_cast<std::uint64_t>(all[i]);
      parts.push_back({at, at + kBytes, target.data() + i * kBytes});
    }
    const auto begun = ProtectedCopy::begin(parts, os::WriteReach::program, kLimits);
    ASSERT_TRUE(begun);
    ASSERT_NE(*begun, nullptr);
    for (void* one : all) std::free(one);
    (void)complete(**begun);  // exact if no memory went back to the system, an error if some did
    (*begun)->end();
  }
}

}  // namespace
}  // namespace perdure::client
