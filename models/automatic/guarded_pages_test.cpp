#include "automatic/guarded_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <memory>
#include <numeric>
#include <thread>

#include "automatic/region_check.hpp"

namespace perdure::automatic {
namespace {

bool operator==(const Bytes& a, const Bytes& b) { return a.begin == b.begin && a.end == b.end; }

TEST(PiecesOfMemory, AreWhatIsLeftOfOthers) {
  using Pieces = std::vector<Bytes>;
  const auto same = [](const Pieces& found, const Pieces& expected) {
    return std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                      [](const Bytes& a, const Bytes& b) { return a == b; });
  };
  EXPECT_TRUE(same(difference({{10, 20}}, {}), {{10, 20}}));
  EXPECT_TRUE(same(difference({{10, 20}}, {{10, 20}}), {}));
  EXPECT_TRUE(same(difference({{10, 20}}, {{0, 12}, {18, 30}}), {{12, 18}}));
  EXPECT_TRUE(same(difference({{10, 20}}, {{12, 14}, {13, 15}}), {{10, 12}, {15, 20}}));
  EXPECT_TRUE(same(difference({{30, 40}, {10, 20}, {15, 25}}, {{35, 36}}), {{10, 20}, {20, 25}, {30, 35}, {36, 40}}));
  const Pieces pieces{{1, 4095}, {4096, 8192}, {4097, 12289}, {5000, 8000}};
  EXPECT_TRUE(same(whole_pages(pieces, 4096), {{4096, 8192}, {8192, 12288}}));
}

/// Two arrays of 40 x 1000 numbers, adjacent in memory; this rank has rows 10 to 29.
class UsedRegions : public ::testing::Test {
 protected:
  static constexpr std::int64_t kFirst = 10, kRows = 20, kColumns = 1000;
  UsedRegions() : memory_(static_cast<std::size_t>(2 * kRows * kColumns)) {
    std::iota(memory_.begin(), memory_.end(), 0);
    for (std::int64_t i = 0; i < 2; ++i) {
      StoredSet set;
      set.data = {i == 0 ? "one" : "two", {2, {0, 0}, {40, kColumns}}, 8, false};
      set.owned.push_back(
          {{2, {kFirst, 0}, {kFirst + kRows, kColumns}}, reinterpret_cast<std::byte*>(array(i)), {kColumns * 8, 8}});
      sets_.push_back(set);
    }
  }
  double* array(std::int64_t number) { return memory_.data() + number * kRows * kColumns; }
  volatile double& at(std::int64_t number, std::int64_t row, std::int64_t column) {
    return array(number)[(row - kFirst) * kColumns + column];
  }
  template <class Work>
  std::string found(std::vector<track::Access> accesses, Work work) {
    check_.begin(next_++, sets_, accesses);
    work();
    return check_.end(sets_).value_or("");
  }
  static Box rows(std::int64_t begin, std::int64_t end) { return {2, {begin, 0}, {end, kColumns}}; }

  std::vector<double> memory_;
  std::vector<StoredSet> sets_;
  RegionCheck check_;
  track::LoopId next_ = 1;
};

const Box kAllRows{2, {0, 0}, {40, 1000}};

TEST_F(UsedRegions, ReadWhatTheySay) {
  double sum = 0;
  EXPECT_EQ(found({track::Access::reads(1, kAllRows)}, [&] { sum = at(1, 15, 500); }), "");
  EXPECT_EQ(sum, 20 * 1000 + 5 * 1000 + 500);
  EXPECT_EQ(found({track::Access::writes(0, kAllRows)}, [&] { sum = at(1, 15, 500); }),
            "it used [15, 500] of data 'two'");
  EXPECT_EQ(sum, 20 * 1000 + 5 * 1000 + 500) << "it goes on";
  EXPECT_EQ(found({}, [&] { sum = at(0, 20, 999); }), "it used [20, 999] of data 'one'");
  EXPECT_EQ(found({track::Access::reads(0, rows(10, 20))}, [&] { sum = at(0, 19, 999); }), "");
  EXPECT_EQ(found({track::Access::reads(0, rows(10, 20))}, [&] { sum = at(0, 25, 0); }),
            "it used [25, 0] of data 'one'");
  EXPECT_EQ(found({track::Access::reads_writes(0, kAllRows, kAllRows), track::Access::reads(1, kAllRows)},
                  [&] { at(0, 11, 1) = at(1, 29, 999); }),
            "");
  EXPECT_EQ(found({}, [] {}), "");
}

// A hash does not detect a write of the same value.
TEST_F(UsedRegions, WriteWhatTheySayAlsoWhereThatChangesNothing) {
  EXPECT_EQ(found({}, [&] { at(1, 12, 7) = at(1, 12, 7) + 0; }), "it used [12, 7] of data 'two'");
  EXPECT_EQ(found({}, [&] { at(1, 12, 7) = 1; }).find("it wrote"), 0U);
}

TEST_F(UsedRegions, AreSeenInEveryThread) {
  EXPECT_EQ(found({track::Access::writes(0, kAllRows)},
                  [&] {
                    std::vector<std::thread> threads;
                    for (int i = 0; i < 4; ++i)
                      threads.emplace_back([&] {
                        for (std::int64_t column = 0; column < kColumns; ++column) at(0, 20, column) = at(1, 20, 5);
                      });
                    for (std::thread& thread : threads) thread.join();
                  }),
            "it used [20, 5] of data 'two'");
}

// The check guards no page that holds other memory, so it blames nobody else.
TEST_F(UsedRegions, LeaveOthersOnTheSamePagesAlone) {
  sets_.resize(1);
  EXPECT_EQ(found({},
                  [&] {
                    for (std::int64_t column = 0; column < kColumns; ++column) at(1, kFirst, column) = 1;
                  }),
            "");
}

// Between rows lie seams that neighbours fill, which no region has to declare.
TEST_F(UsedRegions, LeaveWhatLiesBetweenRowsAlone) {
  constexpr std::int64_t kApart = 2048, kPage = 4096 / 8;  // so that each row begins with a whole page
  std::vector<double> memory(static_cast<std::size_t>(kRows * kApart + kPage), 1);
  void* first = memory.data();
  std::size_t room = memory.size() * 8;
  auto* const first_row =
      static_cast<double*>(std::align(4096, static_cast<std::size_t>(kRows * kApart) * 8, first, room));
  ASSERT_NE(first_row, nullptr);
  sets_.resize(1);
  sets_[0].owned[0].address = reinterpret_cast<std::byte*>(first_row);
  sets_[0].owned[0].strides = {kApart * 8, 8};
  const auto value = [&](std::int64_t row, std::int64_t column) -> volatile double& {
    return first_row[(row - kFirst) * kApart + column];
  };
  EXPECT_EQ(found({},
                  [&] {
                    for (std::int64_t row = kFirst; row < kFirst + kRows; ++row)
                      for (std::int64_t column = kColumns; column < kApart; ++column) value(row, column) = 2;
                  }),
            "");
  EXPECT_EQ(found({}, [&] { value(15, 500) = value(15, 500) + 0; }), "it used [15, 500] of data 'one'");
}

// A system call does not continue as a thread does: it fails, as docs/track.md says.
TEST_F(UsedRegions, CannotHandToTheSystemWhatTheyDoNotSay) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const auto give = [&](std::int64_t number) { return ::write(ends[1], array(number) + 5000, 800); };
  EXPECT_EQ(found({track::Access::reads(0, kAllRows)}, [&] { EXPECT_EQ(give(0), 800); }), "");
  EXPECT_EQ(found({track::Access::reads(0, kAllRows)},
                  [&] {
                    EXPECT_EQ(give(1), -1);
                    EXPECT_EQ(errno, EFAULT);
                  }),
            "");
  EXPECT_EQ(give(1), 800) << "behind the region";
  RegionCheck writes({true, false});
  writes.begin(1, sets_, {});
  EXPECT_EQ(give(1), 800);
  EXPECT_FALSE(writes.end(sets_));
  (void)::close(ends[0]);
  (void)::close(ends[1]);
}

TEST_F(UsedRegions, LeaveAChildItsMemory) {
  double sum = 0;
  EXPECT_EQ(found({},
                  [&] {
                    const pid_t child = ::fork();
                    if (child == 0) ::_exit(at(1, 15, 500) == 25500 ? 7 : 1);
                    int status = 0;
                    ASSERT_EQ(::waitpid(child, &status, 0), child);
                    EXPECT_EQ(WEXITSTATUS(status), 7);
                  }),
            "");
  EXPECT_EQ(found({}, [&] { sum = at(1, 15, 500); }), "it used [15, 500] of data 'two'");
}

sigjmp_buf fault;
void jump(int) { siglongjmp(fault, 1); }

// The program's own handler receives the program's own faults, within a region and after it.
TEST_F(UsedRegions, LeaveAProgramItsHandler) {
  struct sigaction mine = {}, before = {};
  mine.sa_handler = jump;
  ASSERT_EQ(::sigaction(SIGSEGV, &mine, &before), 0);
  void* const page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  volatile int caught = 0;
  EXPECT_EQ(found({},
                  [&] {
                    if (sigsetjmp(fault, 1) != 0)
                      caught = caught + 1;
                    else
                      (void)*static_cast<volatile char*>(page);
                  }),
            "");
  EXPECT_EQ(caught, 1);
  if (sigsetjmp(fault, 1) != 0)
    caught = caught + 1;
  else
    (void)*static_cast<volatile char*>(page);
  EXPECT_EQ(caught, 2);
  ::munmap(page, 4096);
  ASSERT_EQ(::sigaction(SIGSEGV, &before, &mine), 0);
  EXPECT_EQ(mine.sa_handler, jump) << "it is there again";
}

// Two checks; only one may guard.
TEST_F(UsedRegions, AreLookedAtByOneInAProcess) {
  RegionCheck other({false, true});
  double sum = 0;
  EXPECT_EQ(found({},
                  [&] {
                    other.begin(1, sets_, {});
                    sum = at(1, 15, 500);
                    EXPECT_FALSE(other.end(sets_));
                  }),
            "it used [15, 500] of data 'two'");
}

// Index 0 is the last row, because indices may run backwards in memory.
TEST_F(UsedRegions, AreNamedByIndicesThatGoBackwards) {
  sets_.resize(1);
  Part& part = sets_[0].owned[0];
  part.address += (kRows - 1) * kColumns * 8;
  part.strides[0] = -kColumns * 8;
  double sum = 0;
  EXPECT_EQ(found({}, [&] { sum = at(0, 15, 500); }), "it used [24, 500] of data 'one'");
}

}  // namespace
}  // namespace perdure::automatic
