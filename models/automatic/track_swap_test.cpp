// Tests tracked programs that swap arrays, all of which are live. After any number of swaps the next start continues
// and computes the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "perdure/perdure_track.h"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::automatic {
namespace {

constexpr std::uint64_t kCells = 40;
using Field = std::vector<std::uint64_t>;

std::uint64_t mixed_with(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = (a + 0x632be59bd9b4e019ULL * b) * 0x9e3779b97f4a7c15ULL;
  return sum ^ sum >> 29U;
}

/// Makes `levels` levels before the first step.
std::vector<Field> levels_at_first(std::size_t levels) {
  std::vector<Field> fields(levels, Field(kCells));
  for (std::size_t i = 0; i < levels; ++i) std::iota(fields[i].begin(), fields[i].end(), 1000 * i);
  return fields;
}

/// Overwrites the oldest level, which is the first, with a function of all levels.
void advance(std::vector<Field>& fields) {
  for (std::size_t cell = 0; cell < kCells; ++cell)
    for (std::size_t i = 1; i < fields.size(); ++i)
      fields[0][cell] = mixed_with(fields[0][cell], fields[i][(cell + i) % kCells]);
}

/// Computes the result without Perdure.
std::vector<Field> undisturbed(std::size_t levels, int steps) {
  std::vector<Field> fields = levels_at_first(levels);
  for (int step = 0; step < steps; ++step) {
    advance(fields);
    std::rotate(fields.begin(), fields.begin() + 1, fields.end());
  }
  return fields;
}

/// Leap-frog over two or three time levels: each step overwrites the oldest level with a function of all, and the
/// levels rotate. All levels are needed at every place.
class LeapFrog {
 public:
  LeapFrog(std::size_t levels, perdure_t* handle, const std::string& name)
      : fields_(levels_at_first(levels)), numbers_(levels) {
    perdure_track_policy policy{};
    policy.name = name.c_str();
    policy.every_regions = 7;
    policy.learns = 30;
    must(perdure_track_open(handle, &policy, &track_, nullptr, 0));
    const perdure_array array{nullptr, "u8", 1, &kCells, nullptr, 0, nullptr, nullptr};
    for (std::size_t i = 0; i < levels; ++i) {
      perdure_array named = array;
      const std::string called = "level" + std::to_string(i);
      named.name = called.c_str();
      const std::uint64_t begin = 0;
      const perdure_box box{fields_[i].data(), &begin, &kCells, nullptr};
      must(perdure_track_array(track_, &named, &box, 1, &numbers_[i]));
    }
    must(perdure_track_start(track_));
  }
  LeapFrog(const LeapFrog&) = delete;
  LeapFrog& operator=(const LeapFrog&) = delete;
  ~LeapFrog() { (void)perdure_track_close(&track_, nullptr, 0); }

  /// Returns the levels after `steps` steps, the oldest first.
  std::vector<Field> run(int steps) {
    for (int step = 0; step < steps; ++step) {
      std::vector<perdure_access> uses{perdure_reads_writes(numbers_[0])};
      for (std::size_t i = 1; i < fields_.size(); ++i) uses.push_back(perdure_reads(numbers_[i]));
      int runs = 0;
      must(perdure_track_begin(track_, "leap", "test", uses.data(), uses.size(), &runs));
      if (runs != 0) {
        advance(fields_);
        must(perdure_track_end(track_));
      }
      for (std::size_t i = 0; i + 1 < fields_.size(); ++i) {
        must(perdure_track_swap(track_, numbers_[i], numbers_[i + 1]));
        std::swap(fields_[i], fields_[i + 1]);
      }
    }
    return fields_;
  }
  bool restarted() {
    perdure_track_info info{};
    must(perdure_track_get_info(track_, &info));
    return info.restarted != 0;
  }

 private:
  void must(perdure_status status) const {
    if (status != PERDURE_OK) throw std::runtime_error(perdure_track_error_text(track_));
  }
  std::vector<Field> fields_;
  std::vector<int> numbers_;
  perdure_track_t* track_ = nullptr;
};

// All runs share one handle, because they end in order; other tests kill theirs.
class SwappedArrays : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const std::string at = directory_.path();
    const std::string options = "store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
                                "/file;tier.memory.max_bytes=4MiB;tier.file.max_bytes=4MiB";
    ASSERT_EQ(perdure_open(options.c_str(), &handle_, nullptr, 0), PERDURE_OK);
  }
  void TearDown() override { (void)perdure_close(&handle_); }
  std::vector<Field> live(const std::string& name, int steps, bool* restarted = nullptr) {
    std::vector<Field> levels;
    {
      LeapFrog program(GetParam(), handle_, name);
      if (restarted != nullptr) *restarted = program.restarted();
      levels = program.run(steps);
    }
    for (int id = 0; id <= 3; ++id) (void)perdure_unprotect(handle_, id);  // their memory is gone
    return levels;
  }
  test_support::TemporaryDirectory directory_;
  perdure_t* handle_ = nullptr;
};

TEST_P(SwappedArrays, ComeBackWhereverTheRunEnded) {
  // 7 has no common factor with the numbers of levels, so that every order of them occurs.
  const int most = 400, step = test_support::campaign() ? 1 : test_support::unless_sanitized(7, 53);
  for (int ended = 1; ended <= most; ended += step) {
    const std::string name = "leap" + std::to_string(ended);
    (void)live(name, ended);
    bool restarted = false;
    const auto found = live(name, ended + 5, &restarted);
    ASSERT_EQ(found, undisturbed(GetParam(), ended + 5)) << "ended after step " << ended;
    if (ended > 30) {
      ASSERT_TRUE(restarted) << "ended after step " << ended;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, SwappedArrays, testing::Values(2, 3));

}  // namespace
}  // namespace perdure::automatic
