#include "plan/skipping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perdure::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ComingVersion coming(std::uint64_t version, std::uint64_t begun_ns, bool may_go = true) {
  ComingVersion one;
  one.version = version;
  one.begun_ns = begun_ns;
  one.may_go = may_go;
  return one;
}

std::vector<ComingVersion> up_to(std::uint64_t last) {
  std::vector<ComingVersion> all;
  for (std::uint64_t version = 1; version <= last; ++version) all.push_back(coming(version, version));
  return all;
}

TEST(Skip, LeavesTheNewestThatRetentionKeeps) {
  EXPECT_THAT(skip({2, 0}, up_to(2)), IsEmpty());
  EXPECT_THAT(skip({2, 0}, up_to(5)), ElementsAre(0, 1, 2));
  EXPECT_THAT(skip({4, 0}, up_to(5)), ElementsAre(0));
  EXPECT_THAT(skip({0, 0}, up_to(3)), ElementsAre(0, 1)) << "0 counts as 1";
  EXPECT_THAT(skip({2, 0}, {}), IsEmpty());
}

TEST(Skip, LeavesLandmarksAndWhatMayNotGo) {
  EXPECT_THAT(skip({1, 3}, up_to(7)), ElementsAre(0, 1, 3, 4));
  auto some = up_to(5);
  some[0].may_go = some[2].may_go = false;
  EXPECT_THAT(skip({1, 0}, some), ElementsAre(1, 3));
}

// Versions of the branch that was left are older than later ones, whatever their numbers.
TEST(Skip, GoesByTheTimeOfTheAttempt) {
  EXPECT_THAT(skip({1, 0}, {coming(9, 1), coming(3, 2)}), ElementsAre(0));
  EXPECT_THAT(skip({2, 0}, {coming(3, 1), coming(3, 2)}), ElementsAre(0)) << "an earlier attempt at the same version";
}

// Each node decides by itself: all of these may be in parts at the store, and none whole.
TEST(Skip, LeavesOfWhatIsNotAgreedOnTheNewestAndLandmarks) {  // all nodes have them until the end
  auto some = up_to(7);
  for (auto& one : some) one.agreed = false;
  EXPECT_THAT(skip({3, 0}, some), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(skip({3, 2}, some), ElementsAre(0, 2));
  some[2].may_go = false;
  EXPECT_THAT(skip({1, 0}, some), ElementsAre(0, 1, 3, 4, 5));
  some[6].branch = 9;
  EXPECT_THAT(skip({1, 0}, some), ElementsAre(0, 1, 3, 4)) << "another branch stands for none of this one";
}

TEST(Skip, CountsTwoAttemptsAtOneNumberOnce) {
  std::vector<ComingVersion> some = {coming(4, 1), coming(5, 2), coming(5, 3)};
  for (auto& one : some) one.agreed = false;
  EXPECT_THAT(skip({2, 0}, some), IsEmpty());
  EXPECT_THAT(skip({1, 0}, some), ElementsAre(0, 1));
}

// Agreed versions come to the store. The policy counts no others there.
TEST(Skip, CountsOnlyWhatIsAgreedOn) {
  auto some = up_to(6);
  some[1].agreed = some[4].agreed = some[5].agreed = false;
  EXPECT_THAT(skip({2, 0}, some), ElementsAre(0, 1)) << "the two newest of 1, 3 and 4 stay, and the two newest of all";
}

TEST(Quiet, IsTwiceTheTimeBetweenTwoVersionsWithinLimits) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  EXPECT_DOUBLE_EQ(quiet_s(10 * kSecond, 15 * kSecond), 10);
  EXPECT_DOUBLE_EQ(quiet_s(10 * kSecond, 10 * kSecond + 1), 1);
  EXPECT_DOUBLE_EQ(quiet_s(10 * kSecond, 4000 * kSecond), 60);
  EXPECT_DOUBLE_EQ(quiet_s(0, 10 * kSecond), 1) << "there is none before";
  EXPECT_DOUBLE_EQ(quiet_s(10 * kSecond, 9 * kSecond), 1) << "the clock went back";
}

}  // namespace
}  // namespace perdure::plan
