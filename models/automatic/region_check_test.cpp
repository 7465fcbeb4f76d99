#include "automatic/region_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perdure::automatic {
namespace {

/// Two arrays of 6 x 4; this rank has rows 2 to 4.
class CheckedRegions : public ::testing::Test {
 protected:
  CheckedRegions() {
    for (std::size_t i = 0; i < 2; ++i) {
      StoredSet set;
      set.data = {i == 0 ? "one" : "two", {2, {0, 0}, {6, 4}}, 8, false};
      set.owned.push_back({{2, {2, 0}, {5, 4}}, reinterpret_cast<std::byte*>(memory_[i]), {4 * 8, 8}});
      sets_.push_back(set);
    }
  }
  /// Runs a region that declares to write `written` of array 0. Returns its undeclared writes.
  template <class Work>
  std::string wrote(const Box& written, Work work, std::optional<track::LoopId> of = std::nullopt) {
    const track::LoopId id = of ? *of : next_++;
    const track::Access access = track::Access::writes(0, written);
    check_.begin(id, sets_, std::span(&access, 1));
    work();
    return check_.end(sets_).value_or("");
  }
  double memory_[2][3][4] = {};
  std::vector<StoredSet> sets_;
  RegionCheck check_;
  track::LoopId next_ = 1000;
};

TEST_F(CheckedRegions, WriteWhatTheySay) {
  const Box second_row{2, {3, 0}, {4, 4}};
  EXPECT_EQ(wrote(second_row, [&] { memory_[0][1][2] = 1; }), "");
  EXPECT_EQ(wrote(second_row, [] {}), "");
  EXPECT_EQ(wrote(second_row, [&] { memory_[0][0][3] = 1; }), "it wrote [2:3, 0:4] of data 'one'");
  EXPECT_EQ(wrote(second_row, [&] { memory_[0][2][0] = 1; }), "it wrote [4:5, 0:4] of data 'one'");
  EXPECT_EQ(wrote(second_row, [&] { memory_[1][1][1] = 1; }), "it wrote [2:5, 0:4] of data 'two'");
  EXPECT_EQ(wrote({2, {0, 0}, {6, 4}}, [&] { memory_[0][2][3] = 2; }), "");
}

// Each region is checked once, however little time there is; others only within a tenth of the time.
TEST_F(CheckedRegions, AreLookedAtWhenTheyComeFirst) {
  const Box nothing{2, {0, 0}, {0, 0}};
  std::uint64_t looked_at = 0;
  for (track::LoopId id = 1; id <= 50; ++id) {
    for (int times = 0; times < 20; ++times)
      EXPECT_EQ(wrote(
                    nothing, [] {}, id),
                "");
    EXPECT_GT(check_.looked_at(), looked_at);
    looked_at = check_.looked_at();
  }
  EXPECT_LT(looked_at, 50U * 20U);
}

}  // namespace
}  // namespace perdure::automatic
