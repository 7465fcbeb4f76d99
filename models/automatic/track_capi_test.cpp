// Tests annotated regions through C. Programs that are killed anywhere resume on other numbers of ranks and end with
// the same values. Wrong uses are refused.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "perdure/perdure_track.h"
#include "support/ranks.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::automatic {
namespace {

using test_support::Rank;
using testing::HasSubstr;

constexpr std::int64_t kRows = 60, kColumns = 7;
constexpr int kKilled = 128 + SIGKILL, kBegan = 2, kWentOn = 3;

std::int64_t mixed(std::int64_t a, std::int64_t b) {
  const std::uint64_t sum =
      (static_cast<std::uint64_t>(a) + 0x632be59bd9b4e019ULL * static_cast<std::uint64_t>(b)) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::int64_t>(sum ^ sum >> 29U);
}

/// Rows of a plate with a halo of one row above and below, in memory of this rank.
class Plate {
 public:
  Plate(const Rank& rank, std::int64_t value)
      : first_(kRows * rank.rank / rank.size), rows_(kRows * (rank.rank + 1) / rank.size - first_) {
    for (std::int64_t i = 0; i < (rows_ + 2) * kColumns; ++i)
      words_.push_back(mixed(value, (first_ - 1) * kColumns + i));
    begin_[0] = static_cast<std::uint64_t>(first_);
    end_[0] = static_cast<std::uint64_t>(first_ + rows_);
  }
  std::int64_t& at(std::int64_t row, std::int64_t column) {
    return words_[static_cast<std::size_t>((row - first_ + 1) * kColumns + column)];
  }
  std::int64_t first() const { return first_; }
  std::int64_t end() const { return first_ + rows_; }
  perdure_box box() { return {&at(first_, 0), begin_, end_, nullptr}; }
  // Copies the adjacent rows of the neighbour ranks into the halo; zeros at the plate's ends.
  void exchange(const Rank& rank) {
    std::vector<std::int64_t> mine(2 * kColumns), all(2 * kColumns * static_cast<std::size_t>(rank.size));
    std::copy_n(&at(first_, 0), kColumns, mine.begin());
    std::copy_n(&at(first_ + rows_ - 1, 0), kColumns, mine.begin() + kColumns);
    const auto& ranks = rank.communicator;
    (void)ranks.allgather(ranks.context, mine.data(), mine.size() * 8, all.data());
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const auto of = [&](int other, std::int64_t which) {
        const bool is = other >= 0 && other < rank.size;
        return is ? all[static_cast<std::size_t>((2 * other + which) * kColumns + j)] : 0;
      };
      at(first_ - 1, j) = of(rank.rank - 1, 1);
      at(first_ + rows_, j) = of(rank.rank + 1, 0);
    }
  }
  std::int64_t sum(const Rank& rank) {
    std::uint64_t sum = 0;
    for (std::int64_t i = first_; i < first_ + rows_; ++i)
      for (std::int64_t j = 0; j < kColumns; ++j)
        sum += static_cast<std::uint64_t>(mixed(at(i, j), i * kColumns + j)) >> 20U;
    const auto& ranks = rank.communicator;
    (void)ranks.allreduce(ranks.context, &sum, 1, 2);
    return static_cast<std::int64_t>(sum);
  }

 private:
  std::int64_t first_, rows_;
  std::vector<std::int64_t> words_;
  std::uint64_t begin_[2] = {0, 0}, end_[2] = {0, kColumns};
};

struct Life {
  std::uint64_t dies = ~std::uint64_t{0};  ///< the region before, in or after which the process dies
  std::uint64_t where = 0;
  bool by_time = false;
  std::uint64_t learns = 30;
  const char* other = nullptr;  ///< an additional region
};

/// Computes on two plates that alternate, and a table that all ranks have. Its number of steps depends on the results.
class Program {
 public:
  Program(const Rank& rank, perdure_t* handle, const Life& life) : rank_(rank), life_(life) {
    perdure_track_policy policy{};
    policy.name = "plate";
    policy.every_regions = life.by_time ? 0 : 13;
    policy.every_s = life.by_time ? 1e-9 : 0;
    policy.learns = life.learns;
    char message[500] = "";
    check(perdure_track_open(handle, &policy, &track_, message, sizeof message));
  }
  // Returns the sum over all ranks at the end; without steps there is none.
  std::int64_t run(int steps) {
    Plate plates[2] = {{rank_, 1}, {rank_, 2}}, fixed(rank_, 3);
    std::int64_t table[5] = {1, 2, 3, 4, 5};
    int now = declare("now", plates[0]), next = declare("next", plates[1]), constant = declare("fixed", fixed);
    int shared = -1, here = 0;
    const std::uint64_t five = 5;
    const perdure_array array{"table", "i8", 1, &five, nullptr, 0, nullptr, nullptr};
    check(perdure_track_replicated(track_, &array, table, &shared));
    check(perdure_track_start(track_));
    std::int64_t sum = 0;
    if (steps == 0) return sum;
    for (int step = 0; step < steps; ++step) {
      region("advance", {perdure_reads(now), perdure_reads(constant), perdure_writes(next), perdure_reads(shared)},
             [&] {
               Plate &from = plates[here], &to = plates[1 - here];
               from.exchange(rank_);
               each(to, [&](std::int64_t i, std::int64_t j) {
                 to.at(i, j) = mixed(mixed(from.at(i - 1, j), from.at(i, j)), mixed(from.at(i + 1, j), table[j % 5])) ^
                               fixed.at(i, j);
               });
             });
      check(perdure_track_swap(track_, now, next));
      here = 1 - here;
      if (life_.by_time) check(perdure_track_tick(track_));
      if (step % 3 == 0)
        region("sum", {perdure_reads(now), perdure_gives(&sum, sizeof sum)}, [&] { sum = plates[here].sum(rank_); });
      if (sum % 4 == 0)
        region("table", {perdure_writes(shared)}, [&] {
          for (int i = 0; i < 5; ++i) table[i] = mixed(sum, i);
        });
      if (sum % 4 == 1) {
        const std::uint64_t begin[2] = {5, 2}, end[2] = {40, 6};
        region("stir", {perdure_within(perdure_reads_writes(now), begin, end)}, [&] {
          each(plates[here], [&](std::int64_t i, std::int64_t j) {
            if (i >= 5 && i < 40 && j >= 2 && j < 6) plates[here].at(i, j) += i;
          });
        });
      }
      if (life_.other != nullptr && step == 3) region(life_.other, {perdure_touches_all()}, [] {});
    }
    region("end", {perdure_reads(now), perdure_gives(&sum, sizeof sum)}, [&] { sum = plates[here].sum(rank_); });
    return sum;
  }
  perdure_track_info info() {
    perdure_track_info info{};
    check(perdure_track_get_info(track_, &info));
    return info;
  }
  std::uint64_t ran() const { return ran_; }
  void close() {
    char message[500] = "";
    const perdure_status status = perdure_track_close(&track_, message, sizeof message);
    if (status != PERDURE_OK || track_ != nullptr) throw std::runtime_error(message);
  }

 private:
  void check(perdure_status status) const {
    if (status == PERDURE_OK) return;
    throw std::runtime_error(std::string(perdure_status_name(status)) + ": " + perdure_track_error_text(track_));
  }
  int declare(const char* name, Plate& plate) {
    const std::uint64_t extents[2] = {kRows, kColumns};
    const perdure_array array{name, "i8", 2, extents, nullptr, 0, "m", "a plate"};
    const perdure_box box = plate.box();
    int number = -1;
    check(perdure_track_array(track_, &array, &box, 1, &number));
    return number;
  }
  template <class Use>
  static void each(Plate& plate, const Use& use) {
    for (std::int64_t i = plate.first(); i < plate.end(); ++i)
      for (std::int64_t j = 0; j < kColumns; ++j) use(i, j);
  }
  void die_at(std::uint64_t where) const {
    if (regions_ == life_.dies && where == life_.where) ::kill(::getpid(), SIGKILL);
  }
  template <class Body>
  void region(const char* name, std::vector<perdure_access> uses, const Body& body) {
    die_at(0);
    int run = 0;
    check(perdure_track_begin(track_, name, "run", uses.data(), uses.size(), &run));
    if (run != 0) {
      body();
      ++ran_;
      die_at(1);
      check(perdure_track_end(track_));
    }
    die_at(2);
    ++regions_;
  }

  const Rank& rank_;
  Life life_;
  perdure_track_t* track_ = nullptr;
  std::uint64_t regions_ = 0, ran_ = 0;
};

class AnnotatedRegions : public testing::Test {
 protected:
  std::string options() const {
    const std::string at = directory_.path();
    return "store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
           "/file;chunk_bytes=64KiB;tier.memory.max_bytes=32MiB;tier.file.max_bytes=32MiB;engine.idle_exit=1";
  }
  // Runs on `ranks` ranks; returns their exit codes.
  test_support::Outcome live(int ranks, const std::function<int(const Rank&, perdure_t*)>& body) const {
    test_support::RunOptions some;
    some.ranks = ranks;
    return test_support::run_ranks(some, [&](const Rank& rank) {
      perdure_t* handle = rank.open(options());
      const int code = body(rank, handle);
      (void)perdure_close(&handle);
      return code;
    });
  }
  // Runs the program as `live` does; each rank's exit code tells its outcome.
  test_support::Outcome program(int ranks, int steps, const std::function<Life(int rank)>& life,
                                std::int64_t expected) const {
    return live(ranks, [&](const Rank& rank, perdure_t* handle) {
      try {
        Program program(rank, handle, life(rank.rank));
        const std::int64_t sum = program.run(steps);
        const auto info = program.info();
        program.close();
        if (sum != expected) return 10;
        return info.restarted != 0 ? kWentOn : kBegan;
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "rank %d: %s\n", rank.rank, failure.what());
        return 11;
      }
    });
  }
  // Returns the result of a run on one rank without deaths.
  std::int64_t undisturbed(int steps) const {
    const std::string file = directory_ / "sum";
    const auto outcome = live(1, [&](const Rank& rank, perdure_t* handle) {
      Program program(rank, handle, {~std::uint64_t{0}, 0, false, 1U << 20U, nullptr});
      std::ofstream(file) << program.run(steps);
      program.close();
      return 0;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    std::int64_t sum = 0;
    std::ifstream(file) >> sum;
    std::filesystem::remove_all(directory_ / "store");
    std::filesystem::remove_all(directory_ / "node");
    std::filesystem::remove_all(directory_ / "file");
    return sum;
  }
  test_support::TemporaryDirectory directory_;
};

TEST_F(AnnotatedRegions, OfAProgramThatIsKilledAnywhereGoOnOnAnyNumberOfRanks) {
  constexpr int kSteps = 60;
  const std::int64_t expected = undisturbed(kSteps);
  std::mt19937_64 random(7);
  int went_on = 0;
  const int runs = test_support::unless_sanitized(8, 2);
  for (int run = 0; run < runs; ++run) {
    int code = kKilled;
    for (int life = 0; code == kKilled; ++life) {
      ASSERT_LT(life, 6);
      const int ranks = 1 + static_cast<int>(random() % 3), dying = static_cast<int>(random() % 3);
      const Life all{life < 5 ? 20 + random() % 90 : ~std::uint64_t{0}, random() % 3, run % 4 == 3, 30, nullptr};
      const auto outcome = program(
          ranks, kSteps,
          [&](int rank) {
            return rank == dying % ranks ? all : Life{~std::uint64_t{0}, 0, all.by_time};
          },
          expected);
      code = outcome.exit_codes[static_cast<std::size_t>(dying % ranks)];
      ASSERT_TRUE(code == kKilled || code == kBegan || code == kWentOn) << outcome.text() << " run " << run;
      went_on += code == kWentOn ? 1 : 0;
    }
    std::filesystem::remove_all(directory_ / "store");
    std::filesystem::remove_all(directory_ / "node");
    std::filesystem::remove_all(directory_ / "file");
  }
  EXPECT_GE(went_on, runs / 2);
}

// A checkpoint before "advance" has one plate of two, and no constant data.
TEST_F(AnnotatedRegions, SaveWhatIsNeededWhereItIsLeast) {
  const auto outcome = live(2, [&](const Rank& rank, perdure_t* handle) {
    Program program(rank, handle, {});
    (void)program.run(60);
    const auto info = program.info();
    program.close();
    constexpr std::uint64_t plate = kRows * kColumns * 8;
    if (info.state_bytes != 3 * plate + 40) return 1;
    if (info.checkpoints < 3) return 2;
    if (info.last_bytes > plate + 40) return 3;
    return std::string(info.last_before) == "advance" ? 0 : 4;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

TEST_F(AnnotatedRegions, ThatWereDoneAreSkipped) {
  const std::int64_t expected = undisturbed(60);
  const auto first = program(
      2, 60,
      [](int) {
        return Life{75, 1};
      },
      expected);
  ASSERT_TRUE(first.all(kKilled)) << first.text();
  const auto second = live(3, [&](const Rank& rank, perdure_t* handle) {
    Program program(rank, handle, {});
    if (program.run(60) != expected) return 1;
    const auto info = program.info();
    program.close();
    if (info.restarted == 0 || info.goes_on_at < 40) return 2;
    return program.ran() < info.regions - 30 ? 0 : 3;
  });
  EXPECT_TRUE(second.all(0)) << second.text();
}

TEST_F(AnnotatedRegions, OfAnotherProgramAreRefused) {
  const auto first = program(
      1, 60,
      [](int) {
        return Life{75, 1};
      },
      0);
  ASSERT_TRUE(first.all(kKilled)) << first.text();
  const auto other = live(2, [&](const Rank& rank, perdure_t* handle) {
    Life life;
    life.other = "another";
    try {
      (void)Program(rank, handle, life).run(60);
    } catch (const std::exception& refused) {
      const std::string text = refused.what();
      return text.find("mismatch") == 0 && text.find("another") != std::string::npos ? 0 : 2;
    }
    return 1;
  });
  EXPECT_TRUE(other.all(0)) << other.text();
  const auto shorter = live(1, [&](const Rank& rank, perdure_t* handle) {
    Program program(rank, handle, {});
    try {
      (void)program.run(0);
      program.close();
    } catch (const std::exception& refused) {
      return std::string(refused.what()).find("the program ended before loop") != std::string::npos ? 0 : 2;
    }
    return 1;
  });
  EXPECT_TRUE(shorter.all(0)) << shorter.text();
}

// A run of few long regions, such as one per time step of a minute, makes its checkpoint soon after a request.
TEST_F(AnnotatedRegions, MakeACheckpointWithinTwoStepsOfATrigger) {
  for (const int asked : {0, 3, 70, 600}) {
    const auto outcome = live(1, [&](const Rank&, perdure_t* handle) {
      double now[8] = {}, table[8] = {};
      const std::uint64_t extent = 8, begin = 0;
      perdure_array array{"now", "f8", 1, &extent, nullptr, 0, nullptr, nullptr};
      perdure_box box{now, &begin, &extent, nullptr};
      perdure_track_t* track = nullptr;
      int changes = -1, rests = -1, run = 0;
      bool good = perdure_track_open(handle, nullptr, &track, nullptr, 0) == PERDURE_OK &&
                  perdure_track_array(track, &array, &box, 1, &changes) == PERDURE_OK;
      array.name = "table";
      box.address = table;
      good = good && perdure_track_array(track, &array, &box, 1, &rests) == PERDURE_OK &&
             perdure_track_start(track) == PERDURE_OK;
      const perdure_access first[] = {perdure_writes(changes), perdure_writes(rests)};
      good = good && perdure_track_begin(track, "first", "test", first, 2, &run) == PERDURE_OK &&
             perdure_track_end(track) == PERDURE_OK;
      perdure_track_info info{};
      const perdure_access uses[] = {perdure_reads_writes(changes)};
      // The place is at most two steps away. One more step shows what has to be saved.
      for (int step = 0; good && step < asked + 5; ++step) {
        if (step >= asked) good = perdure_track_trigger(track) == PERDURE_OK;  // a signal keeps asking, too
        good = good && perdure_track_begin(track, "step", "test", uses, 1, &run) == PERDURE_OK;
        now[step % 8] += step;
        good = good && perdure_track_end(track) == PERDURE_OK;
      }
      good = good && perdure_track_get_info(track, &info) == PERDURE_OK;
      (void)perdure_track_close(&track, nullptr, 0);
      if (!good) return 1;
      return info.checkpoints > 0 ? 0 : 2;
    });
    EXPECT_TRUE(outcome.all(0)) << "asked at step " << asked << ": " << outcome.text();
    for (const char* folder : {"store", "node", "file"}) std::filesystem::remove_all(directory_ / folder);
  }
}

/// Two equal arrays of 4 x 6.
class Refusals : public AnnotatedRegions {
 protected:
  void SetUp() override {
    ASSERT_EQ(perdure_open(options().c_str(), &handle_, nullptr, 0), PERDURE_OK);
    begin_anew();
  }
  void TearDown() override {
    (void)perdure_track_close(&track_, nullptr, 0);
    (void)perdure_close(&handle_);
  }
  void begin_anew() {
    if (track_ != nullptr) (void)perdure_track_close(&track_, nullptr, 0);
    ASSERT_EQ(perdure_track_open(handle_, nullptr, &track_, nullptr, 0), PERDURE_OK);
    ASSERT_EQ(perdure_track_array(track_, &array_, &box_, 1, &one_), PERDURE_OK);
    array_.name = "two";
    perdure_box there = box_;
    there.address = &other_memory_[0][0];
    ASSERT_EQ(perdure_track_array(track_, &array_, &there, 1, &two_), PERDURE_OK);
    array_.name = "one";
  }
  // Checks that the call and all later calls fail with this error.
  void refused(perdure_status status, const std::string& text) {
    EXPECT_EQ(status, PERDURE_INVALID_ARGUMENT);
    EXPECT_THAT(perdure_track_error_text(track_), HasSubstr(text));
    EXPECT_EQ(perdure_track_trigger(track_), PERDURE_INVALID_ARGUMENT);
    EXPECT_THAT(perdure_track_error_text(track_), HasSubstr(text)) << "the first one";
    begin_anew();
  }
  perdure_status region(std::vector<perdure_access> uses, const char* name = "region") {
    return perdure_track_begin(track_, name, "test", uses.data(), uses.size(), &run_);
  }
  perdure_t* handle_ = nullptr;
  perdure_track_t* track_ = nullptr;
  double memory_[4][6] = {}, other_memory_[4][6] = {};
  std::uint64_t extents_[2] = {4, 6}, first_[2] = {0, 0};
  perdure_array array_{"one", "f8", 2, extents_, nullptr, 0, nullptr, nullptr};
  perdure_box box_{memory_, first_, extents_, nullptr};
  int one_ = -1, two_ = -1, run_ = -1;
};

TEST_F(Refusals, OfDataNameIt) {
  int number = 0;
  const auto declared = [&](const auto& change) {
    perdure_array array = array_;
    array.name = "new";
    perdure_box box = box_;
    change(array, box);
    return perdure_track_array(track_, &array, &box, 1, &number);
  };
  refused(declared([](auto& array, auto&) { array.name = "one"; }), "'one': there is one of that name");
  refused(declared([](auto& array, auto&) { array.name = "a b"; }), "'a b': its name cannot be");
  refused(declared([](auto& array, auto&) { array.name = nullptr; }), "its name cannot be");
  refused(declared([](auto& array, auto&) { array.type = "f7"; }), "'new'");
  refused(declared([](auto& array, auto&) { array.type = nullptr; }), "its type is null");
  refused(declared([](auto& array, auto&) { array.dimensions = 6; }), "it has 6 dimensions");
  refused(declared([](auto& array, auto&) { array.extents = nullptr; }), "its extents are null");
  refused(declared([](auto&, auto& box) { box.address = nullptr; }), "has no address");
  refused(declared([](auto&, auto& box) { box.end = nullptr; }), "a box has no begin or no end");
  const std::uint64_t far[2] = {4, 7}, huge[2] = {1ULL << 40U, 1ULL << 40U};
  refused(declared([&](auto&, auto& box) { box.end = far; }), "is empty, or not within");
  refused(declared([&](auto& array, auto&) { array.extents = huge; }), "2^63");
  refused(perdure_track_array(track_, nullptr, &box_, 1, &number), "its array is null");
  array_.name = "three";
  refused(perdure_track_array(track_, &array_, &box_, 1, nullptr), "the pointer for its number is null");
}

TEST_F(Refusals, OfRegionsNameThem) {
  refused(region({}), "before the start");
  const auto start = [&] { ASSERT_EQ(perdure_track_start(track_), PERDURE_OK); };
  start();
  refused(perdure_track_start(track_), "it was called before");
  start();
  refused(perdure_track_end(track_), "none was begun");
  start();
  refused(region({perdure_reads(7)}), "data 7: there is none of that number");
  start();
  refused(region({perdure_reads(-1)}), "data -1");
  start();
  refused(region({perdure_gives(nullptr, 8)}), "'region': a value that it gives");
  start();
  refused(region({perdure_access{9, 0, nullptr, nullptr, nullptr, 0}}), "access mode 9 is none");
  start();
  const std::uint64_t far[2] = {4, 7};
  refused(region({perdure_within(perdure_writes(one_), first_, far)}), "[0:4, 0:7] of data 'one'");
  start();
  refused(region({}, ""), "it has no name");
  start();
  ASSERT_EQ(region({perdure_writes(one_)}, "outer"), PERDURE_OK);
  ASSERT_EQ(run_, 1);
  refused(region({perdure_writes(two_)}, "inner"), "'inner': it comes within region 'outer'");
  start();
  refused(perdure_track_swap(track_, one_, one_), "they are one");
  start();
  int number = 0;
  array_.name = "late";
  refused(perdure_track_array(track_, &array_, &box_, 1, &number), "declared after the start");
  array_.name = "one";
}

// Only with PERDURE_TRACK_CHECK, which tests set and production runs do not.
TEST_F(Refusals, OfWhatARegionWritesAndDidNotSayNameIt) {
  for (const bool checks : {false, true}) {
    if (checks) ::setenv("PERDURE_TRACK_CHECK", "1", 1);
    begin_anew();
    ::unsetenv("PERDURE_TRACK_CHECK");
    ASSERT_EQ(perdure_track_start(track_), PERDURE_OK);
    ASSERT_EQ(region({perdure_writes(one_), perdure_reads(two_)}), PERDURE_OK);
    memory_[1][1] = 4;
    ASSERT_EQ(perdure_track_end(track_), PERDURE_OK);
    ASSERT_EQ(region({perdure_writes(one_), perdure_reads(two_)}, "another"), PERDURE_OK);
    other_memory_[3][5] += 1;
    const perdure_status ended = perdure_track_end(track_);
    if (checks)
      refused(ended, "region 'another': it wrote [0:4, 0:6] of data 'two', which it did not say");
    else
      EXPECT_EQ(ended, PERDURE_OK);
  }
}

// The arrays span many pages.
TEST_F(Refusals, OfWhatARegionReadsAndDidNotSayNameIt) {
  std::vector<double> large(100 * 1000, 3);
  const std::uint64_t extents[2] = {100, 1000};
  const perdure_array array{"large", "f8", 2, extents, nullptr, 0, nullptr, nullptr};
  const perdure_box box{large.data(), first_, extents, nullptr};
  const volatile double* read = large.data() + 50 * 1000 + 7;
  for (const char* checks : {"writes", "reads", "1"}) {
    ::setenv("PERDURE_TRACK_CHECK", checks, 1);
    begin_anew();
    ::unsetenv("PERDURE_TRACK_CHECK");
    int data = -1;
    ASSERT_EQ(perdure_track_array(track_, &array, &box, 1, &data), PERDURE_OK);
    ASSERT_EQ(perdure_track_start(track_), PERDURE_OK);
    ASSERT_EQ(region({perdure_writes(one_), perdure_reads(data)}), PERDURE_OK);
    memory_[0][0] = *read;
    ASSERT_EQ(perdure_track_end(track_), PERDURE_OK);
    ASSERT_EQ(region({perdure_writes(one_)}, "another"), PERDURE_OK);
    memory_[0][0] = *read + 1;
    EXPECT_EQ(memory_[0][0], 4) << "it goes on";
    const perdure_status ended = perdure_track_end(track_);
    if (std::string(checks) != "writes")
      refused(ended, "region 'another': it used [50, 7] of data 'large', which it did not say");
    else
      EXPECT_EQ(ended, PERDURE_OK);
  }
}

TEST_F(Refusals, OfLooksThatThereAreNotNameThem) {
  ::setenv("PERDURE_TRACK_CHECK", "0", 1);
  begin_anew();
  EXPECT_NE(track_, nullptr) << "no looks";
  ::setenv("PERDURE_TRACK_CHECK", "wirtes", 1);
  perdure_track_t* refused_one = nullptr;
  char message[256] = "";
  EXPECT_EQ(perdure_track_open(handle_, nullptr, &refused_one, message, sizeof message), PERDURE_INVALID_ARGUMENT);
  ::unsetenv("PERDURE_TRACK_CHECK");
  EXPECT_EQ(refused_one, nullptr);
  EXPECT_NE(std::string(message).find("'wirtes'"), std::string::npos) << message;
}

TEST_F(Refusals, OfASwapOfUnlikeArraysNameBoth) {
  const std::uint64_t extents[2] = {6, 4};
  perdure_array array{"three", "f8", 2, extents, nullptr, 0, nullptr, nullptr};
  perdure_box box{memory_, first_, extents, nullptr};
  int three = 0;
  ASSERT_EQ(perdure_track_array(track_, &array, &box, 1, &three), PERDURE_OK);
  ASSERT_EQ(perdure_track_start(track_), PERDURE_OK);
  refused(perdure_track_swap(track_, one_, three), "a swap of data 'one' and data 'three'");
}

TEST_F(Refusals, OfAPolicy) {
  char message[200] = "";
  perdure_track_t* track = nullptr;
  perdure_track_policy policy{};
  policy.every_s = -1;
  EXPECT_EQ(perdure_track_open(handle_, &policy, &track, message, sizeof message), PERDURE_INVALID_ARGUMENT);
  EXPECT_THAT(message, HasSubstr("every_s"));
  EXPECT_EQ(track, nullptr);
  EXPECT_EQ(perdure_track_open(nullptr, nullptr, &track, message, sizeof message), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_track_open(handle_, nullptr, nullptr, message, sizeof message), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_track_start(nullptr), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_track_close(&track, nullptr, 0), PERDURE_INVALID_ARGUMENT);
}

/// A handle and a tracker of one process.
class OneTracker {
 public:
  OneTracker(const std::string& options, const perdure_track_policy& policy) {
    EXPECT_EQ(perdure_open(options.c_str(), &handle_, nullptr, 0), PERDURE_OK);
    EXPECT_EQ(perdure_track_open(handle_, &policy, &track, nullptr, 0), PERDURE_OK);
  }
  ~OneTracker() {
    if (track != nullptr) (void)perdure_track_close(&track, nullptr, 0);
    (void)perdure_close(&handle_);
  }
  perdure_track_t* track = nullptr;

 private:
  perdure_t* handle_ = nullptr;
};

TEST_F(AnnotatedRegions, AreSavedWhenTheProgramSaysSo) {
  perdure_track_policy policy{};
  policy.learns = 8;
  OneTracker one(options(), policy);
  std::int64_t value = 0;
  int number = 0;
  const perdure_array array{"value", "i8", 0, nullptr, nullptr, 0, nullptr, nullptr};
  ASSERT_EQ(perdure_track_replicated(one.track, &array, &value, &number), PERDURE_OK);
  ASSERT_EQ(perdure_track_start(one.track), PERDURE_OK);
  perdure_track_info info{};
  for (int step = 0; step < 60; ++step) {
    if (step == 40) {
      ASSERT_EQ(perdure_track_trigger(one.track), PERDURE_OK);
    }
    PERDURE_TRACK_REGION(one.track, "add", perdure_reads_writes(number)) { ++value; }
    ASSERT_EQ(perdure_track_get_info(one.track, &info), PERDURE_OK);
    EXPECT_EQ(info.checkpoints, step < 40 ? 0U : 1U) << step;
  }
  EXPECT_EQ(info.regions, 60U);
  EXPECT_EQ(info.last_bytes, 8U);
  EXPECT_STREQ(info.last_before, "add");
}

// No rank owns the last element.
TEST_F(AnnotatedRegions, WhoseCheckpointFailsGoOnAndSayWhy) {
  perdure_track_policy policy{};
  policy.learns = 8;
  policy.every_regions = 20;
  OneTracker one(options(), policy);
  std::int64_t values[4] = {};
  int number = 0;
  const std::uint64_t extent = 5, begin = 0, end = 4;
  const perdure_array array{"values", "i8", 1, &extent, nullptr, 0, nullptr, nullptr};
  const perdure_box box{values, &begin, &end, nullptr};
  ASSERT_EQ(perdure_track_array(one.track, &array, &box, 1, &number), PERDURE_OK);
  ASSERT_EQ(perdure_track_start(one.track), PERDURE_OK);
  char report[600] = "";
  EXPECT_EQ(perdure_track_next_report(one.track, report, sizeof report), PERDURE_NOT_FOUND);
  for (int step = 0; step < 60; ++step) PERDURE_TRACK_REGION(one.track, "add", perdure_reads_writes(number)) {
      ++values[0];
    }
  EXPECT_EQ(values[0], 60);
  ASSERT_EQ(perdure_track_next_report(one.track, report, sizeof report), PERDURE_OK);
  EXPECT_THAT(report, HasSubstr("no checkpoint: "));
  EXPECT_THAT(report, HasSubstr("values"));
  EXPECT_STREQ(perdure_track_error_text(one.track), "");
}

void inner_region(perdure_track_t* track) {
  PERDURE_TRACK_REGION(track, "inner", perdure_touches_all()) {}
}

TEST_F(AnnotatedRegions, ThatABlockOfCodeCannotRefuseEndTheProcess) {
  const auto outcome = live(1, [&](const Rank&, perdure_t* handle) {
    perdure_track_t* track = nullptr;
    (void)perdure_track_open(handle, nullptr, &track, nullptr, 0);
    (void)perdure_track_start(track);
    PERDURE_TRACK_REGION(track, "outer", perdure_touches_all()) { inner_region(track); }
    return 0;
  });
  EXPECT_TRUE(outcome.all(128 + SIGABRT)) << outcome.text();
}

TEST_F(AnnotatedRegions, WithoutATrackerAreRun) {
  int runs = 0;
  PERDURE_TRACK_REGION(nullptr, "alone", perdure_touches_all()) { ++runs; }
  EXPECT_EQ(runs, 1);
}

// Data that is written once, and that no step touches, keeps no checkpoint open.
TEST_F(AnnotatedRegions, AreSavedWhereSomeDataIsNeverTouchedAgain) {
  perdure_track_policy policy{};
  policy.learns = 64;
  policy.every_regions = 100;
  OneTracker one(options(), policy);
  std::int64_t once = 0, value = 0;
  int numbers[2] = {};
  perdure_array array{"once", "i8", 0, nullptr, nullptr, 0, nullptr, nullptr};
  ASSERT_EQ(perdure_track_replicated(one.track, &array, &once, &numbers[0]), PERDURE_OK);
  array.name = "value";
  ASSERT_EQ(perdure_track_replicated(one.track, &array, &value, &numbers[1]), PERDURE_OK);
  ASSERT_EQ(perdure_track_start(one.track), PERDURE_OK);
  PERDURE_TRACK_REGION(one.track, "set up", perdure_writes(numbers[0])) { once = 7; }
  for (int step = 0; step < 1000; ++step) PERDURE_TRACK_REGION(one.track, "add", perdure_reads_writes(numbers[1])) {
      ++value;
    }
  perdure_track_info info{};
  ASSERT_EQ(perdure_track_get_info(one.track, &info), PERDURE_OK);
  EXPECT_GE(info.checkpoints, 4U);
  EXPECT_EQ(info.last_bytes, 16U);
}

// Each step writes a row of a table, and the end reads all rows. Rows written during learning must not count as rows
// that will be overwritten.
TEST_F(AnnotatedRegions, OfATableThatGrowsLoseNoRow) {
  constexpr std::int64_t kRowsOfTable = 300;
  for (const std::int64_t dies : {std::int64_t{250}, std::int64_t{-1}}) {
    perdure_track_policy policy{};
    policy.learns = 16;
    policy.every_regions = 20;
    OneTracker one(options(), policy);
    std::vector<std::int64_t> table(kRowsOfTable);
    std::int64_t value = 0;
    int numbers[2] = {};
    const std::uint64_t rows = kRowsOfTable, none = 0;
    const perdure_array whole{"table", "i8", 1, &rows, nullptr, 0, nullptr, nullptr};
    const perdure_array array{"value", "i8", 0, nullptr, nullptr, 0, nullptr, nullptr};
    const perdure_box all{table.data(), &none, &rows, nullptr};
    ASSERT_EQ(perdure_track_array(one.track, &whole, &all, 1, &numbers[0]), PERDURE_OK);
    ASSERT_EQ(perdure_track_replicated(one.track, &array, &value, &numbers[1]), PERDURE_OK);
    ASSERT_EQ(perdure_track_start(one.track), PERDURE_OK);
    for (std::int64_t step = 0; step < (dies < 0 ? kRowsOfTable : dies); ++step) {
      PERDURE_TRACK_REGION(one.track, "advance", perdure_reads_writes(numbers[1])) { value = mixed(value, step); }
      const auto first = static_cast<std::uint64_t>(step), behind = first + 1;
      PERDURE_TRACK_REGION(one.track, "record", perdure_reads(numbers[1]),
                           perdure_within(perdure_writes(numbers[0]), &first, &behind)) {
        table[first] = value;
      }
    }
    if (dies >= 0) continue;
    PERDURE_TRACK_REGION(one.track, "output", perdure_reads(numbers[0])) {
      std::int64_t expected = 0;
      for (std::int64_t step = 0; step < kRowsOfTable; ++step)
        ASSERT_EQ(table[static_cast<std::size_t>(step)], expected = mixed(expected, step)) << step;
    }
    perdure_track_info info{};
    ASSERT_EQ(perdure_track_get_info(one.track, &info), PERDURE_OK);
    EXPECT_EQ(info.restarted, 1);
  }
}

// If a list of data sets suffices before only one of two regions, checkpoints begin before that one, in every life.
TEST_F(AnnotatedRegions, WithAListAreSavedWhereItIsEnough) {
  for (int life = 0; life < 3; ++life) {
    const char* only[] = {"u"};
    perdure_track_policy policy{};
    policy.only = only;
    policy.only_count = 1;
    policy.learns = 16;
    policy.every_regions = 100;
    OneTracker one(options(), policy);
    double u = 1, v = 2;
    int numbers[2] = {};
    perdure_array array{"u", "f8", 0, nullptr, nullptr, 0, nullptr, nullptr};
    ASSERT_EQ(perdure_track_replicated(one.track, &array, &u, &numbers[0]), PERDURE_OK);
    array.name = "v";
    ASSERT_EQ(perdure_track_replicated(one.track, &array, &v, &numbers[1]), PERDURE_OK);
    ASSERT_EQ(perdure_track_start(one.track), PERDURE_OK);
    for (int step = 0; step < 200 * (life + 1); ++step) {
      PERDURE_TRACK_REGION(one.track, "A", perdure_reads(numbers[0]), perdure_writes(numbers[1])) { v = u + 1; }
      PERDURE_TRACK_REGION(one.track, "B", perdure_reads(numbers[1]), perdure_writes(numbers[0])) { u = v; }
    }
    perdure_track_info info{};
    ASSERT_EQ(perdure_track_get_info(one.track, &info), PERDURE_OK);
    EXPECT_GE(info.checkpoints, 2U) << "life " << life;
    EXPECT_EQ(info.restarted, life > 0 ? 1 : 0);
    EXPECT_EQ(u, 1 + 200 * (life + 1));
  }
}

TEST_F(AnnotatedRegions, ThatGiveValuesBeforeTheFirstFastForwardAreRefusedAtOnce) {
  OneTracker one(options(), {});
  double norm = 0;
  ASSERT_EQ(perdure_track_start(one.track), PERDURE_OK);
  PERDURE_TRACK_REGION(one.track, "norm", perdure_gives(&norm, sizeof norm)) { norm = 3; }
  int step = 0, jumped = 0;
  EXPECT_EQ(perdure_track_fast_forward(one.track, &step, sizeof step, &jumped), PERDURE_INVALID_ARGUMENT);
  EXPECT_THAT(perdure_track_error_text(one.track), HasSubstr("before the first fast forward"));
}

// The list lacks data that is read.
TEST_F(AnnotatedRegions, WhoseListOfDataLacksSomethingSayWhat) {
  perdure_t* handle = nullptr;
  ASSERT_EQ(perdure_open(options().c_str(), &handle, nullptr, 0), PERDURE_OK);
  const char* only[] = {"a"};
  perdure_track_policy policy{};
  policy.only = only;
  policy.only_count = 1;
  policy.every_regions = 3;
  policy.learns = 8;
  perdure_track_t* track = nullptr;
  ASSERT_EQ(perdure_track_open(handle, &policy, &track, nullptr, 0), PERDURE_OK);
  double a = 1, b = 2;
  int numbers[2];
  perdure_array array{"a", "f8", 0, nullptr, nullptr, 0, nullptr, nullptr};
  ASSERT_EQ(perdure_track_replicated(track, &array, &a, &numbers[0]), PERDURE_OK);
  array.name = "b";
  ASSERT_EQ(perdure_track_replicated(track, &array, &b, &numbers[1]), PERDURE_OK);
  ASSERT_EQ(perdure_track_start(track), PERDURE_OK);
  perdure_status status = PERDURE_OK;
  for (int i = 0; i < 100 && status == PERDURE_OK; ++i) {
    const perdure_access uses[] = {perdure_reads_writes(numbers[0]), perdure_reads_writes(numbers[1])};
    int run = 0;
    status = perdure_track_begin(track, "both", "here", uses, 2, &run);
    if (status == PERDURE_OK) status = perdure_track_end(track);
  }
  EXPECT_EQ(status, PERDURE_INVALID_ARGUMENT);
  EXPECT_THAT(perdure_track_error_text(track), HasSubstr("data set 'b' is read before it is written"));
  EXPECT_EQ(perdure_track_close(&track, nullptr, 0), PERDURE_INVALID_ARGUMENT);
  (void)perdure_close(&handle);
}

// A program that can begin at any step jumps there at once.
TEST_F(AnnotatedRegions, AreLeftOutWhereThePayloadSaysWhereToGo) {
  int began_at = -1, ran = 0;
  const auto life = [&](int dies) {
    perdure_t* handle = nullptr;
    ASSERT_EQ(perdure_open(options().c_str(), &handle, nullptr, 0), PERDURE_OK);
    perdure_track_policy policy{};
    policy.every_regions = 5;
    policy.learns = 12;
    perdure_track_t* track = nullptr;
    ASSERT_EQ(perdure_track_open(handle, &policy, &track, nullptr, 0), PERDURE_OK);
    std::int64_t value = 0;
    int number = 0;
    const perdure_array array{"value", "i8", 0, nullptr, nullptr, 0, nullptr, nullptr};
    ASSERT_EQ(perdure_track_replicated(track, &array, &value, &number), PERDURE_OK);
    ASSERT_EQ(perdure_track_start(track), PERDURE_OK);
    began_at = -1;
    ran = 0;
    for (int step = 0; step < 40; ++step) {
      int jumped = 0;
      ASSERT_EQ(perdure_track_fast_forward(track, &step, sizeof step, &jumped), PERDURE_OK);
      if (jumped != 0) began_at = step;
      if (step == dies) break;
      PERDURE_TRACK_REGION(track, "add", perdure_reads_writes(number)) {
        value = mixed(value, step);
        ++ran;
      }
    }
    if (dies < 0) {
      std::int64_t expected = 0;
      for (int step = 0; step < 40; ++step) expected = mixed(expected, step);
      EXPECT_EQ(value, expected);
      EXPECT_EQ(perdure_track_close(&track, nullptr, 0), PERDURE_OK);
    } else {
      (void)perdure_track_close(&track, nullptr, 0);
    }
    ASSERT_EQ(perdure_close(&handle), PERDURE_OK);
  };
  life(33);
  EXPECT_EQ(began_at, -1);
  life(-1);
  EXPECT_GE(began_at, 20);
  EXPECT_EQ(ran, 40 - began_at);
}

// In every life and step the array lies elsewhere, with its content.
TEST_F(AnnotatedRegions, OfAnArrayThatMovesGoOnWhereItIs) {
  std::int64_t expected = 0;
  for (int step = 0; step < 40; ++step) expected = mixed(expected, step);
  for (const int dies : {30, 100}) {
    perdure_t* handle = nullptr;
    ASSERT_EQ(perdure_open(options().c_str(), &handle, nullptr, 0), PERDURE_OK);
    perdure_track_policy policy{};
    policy.every_regions = 5;
    policy.learns = 12;
    perdure_track_t* track = nullptr;
    ASSERT_EQ(perdure_track_open(handle, &policy, &track, nullptr, 0), PERDURE_OK);
    const std::uint64_t first = 0, extent = 1;
    std::vector<std::int64_t> memory(50, -7);
    memory[0] = 0;
    const auto box = [&](int at) {
      return perdure_box{&memory[static_cast<std::size_t>(at)], &first, &extent, nullptr};
    };
    const perdure_array array{"value", "i8", 1, &extent, nullptr, 0, nullptr, nullptr};
    int number = 0;
    const perdure_box begin = box(0);
    ASSERT_EQ(perdure_track_array(track, &array, &begin, 1, &number), PERDURE_OK);
    ASSERT_EQ(perdure_track_start(track), PERDURE_OK);
    for (int step = 0; step < 40 && step < dies; ++step) {
      PERDURE_TRACK_REGION(track, "add", perdure_reads_writes(number)) {
        auto& value = memory[static_cast<std::size_t>(step)];
        value = mixed(value, step);
      }
      const perdure_box next = box(step + 1);
      memory[static_cast<std::size_t>(step) + 1] = memory[static_cast<std::size_t>(step)];
      memory[static_cast<std::size_t>(step)] = -7;
      ASSERT_EQ(perdure_track_moved(track, number, &next, 1), PERDURE_OK);
    }
    if (dies > 40) {
      EXPECT_EQ(memory[40], expected);
      perdure_track_info info{};
      ASSERT_EQ(perdure_track_get_info(track, &info), PERDURE_OK);
      EXPECT_EQ(info.restarted, 1);
    }
    EXPECT_EQ(perdure_track_close(&track, nullptr, 0), PERDURE_OK);
    ASSERT_EQ(perdure_close(&handle), PERDURE_OK);
  }
}

}  // namespace
}  // namespace perdure::automatic
