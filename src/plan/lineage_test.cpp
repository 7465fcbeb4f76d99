#include "plan/lineage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace perdure::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
constexpr std::uint64_t kAlways = std::numeric_limits<std::uint64_t>::max();

TEST(AttemptTime, IsTheClocksWhileItGoesForwardAndAlwaysLaterThanWhatIsKnown) {
  EXPECT_EQ(attempt_time(1000, 0), 1000u);
  EXPECT_EQ(attempt_time(1000, 999), 1000u);
  EXPECT_EQ(attempt_time(1000, 1000), 1001u);
  EXPECT_EQ(attempt_time(1000, 5000), 5001u);
  EXPECT_EQ(attempt_time(0, 0), 1u);
  EXPECT_EQ(attempt_time(1000, ~0ULL), ~0ULL) << "not 0";
}

TEST(Branches, TravelInTheNonceOfEachAttempt) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 1000; ++round) {
    const Branch branch = draw_branch(random());
    EXPECT_NE(branch, kFirstBranch);
    const std::uint64_t nonce = nonce_on(branch, random());
    EXPECT_EQ(branch_of(nonce), branch);
    EXPECT_EQ(parse_branch(branch_text(branch)), branch);
  }
  EXPECT_EQ(draw_branch(0xAA00'0000), 1U) << "the first branch is that of old versions";
  EXPECT_NE(nonce_on(5, 1), nonce_on(5, 2)) << "attempts of a branch differ";
  EXPECT_EQ(branch_of(nonce_on(kFirstBranch, 7)), kFirstBranch);
}

TEST(Branches, OfAttemptsThatNameNoneAreTheFirst) {
  for (const std::uint64_t nonce : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x1234'5678'9abc'def0}})
    EXPECT_EQ(branch_of(nonce), kFirstBranch);
}

TEST(Branches, AreSpelledInOneWay) {
  EXPECT_EQ(branch_text(0x3f9a12), "3f9a12");
  EXPECT_EQ(branch_text(kFirstBranch), "000000");
  EXPECT_EQ(parse_branch("000000"), kFirstBranch);
  for (const char* wrong : {"", "3f9a1", "3f9a123", "3F9A12", "0x3f9a", "-3f9a1", " 3f9a1", "3f9a1g"})
    EXPECT_EQ(parse_branch(wrong), std::nullopt) << wrong;
}

// Branch 1 has 1 to 10; branch 2 continues its version 5, branch 3 continues version 7 of branch 2.
const std::vector<Fork> kForks{{2, 1, 5, 50}, {3, 2, 7, 120}};

TEST(Lines, HaveABranchAndWhatItWentOnFrom) {
  EXPECT_THAT(line_of(kForks, 1), ElementsAre(LinePart{1, kAlways}));
  EXPECT_THAT(line_of(kForks, 3), ElementsAre(LinePart{3, kAlways}, LinePart{2, 120}, LinePart{1, 50}));
  const Line line = line_of(kForks, 3);
  EXPECT_TRUE(on_line(line, 3, 500));
  EXPECT_TRUE(on_line(line, 2, 120));
  EXPECT_FALSE(on_line(line, 2, 121)) << "it came after the fork";
  EXPECT_TRUE(on_line(line, 1, 50));
  EXPECT_FALSE(on_line(line, 1, 60));
  EXPECT_FALSE(on_line(line, 9, 1)) << "another run";
}

TEST(Lines, HaveNoMoreOfABranchThanTheirChildWentOnFrom) {
  const std::vector<Fork> forks{{2, 1, 5, 50}, {3, 2, 9, 40}};  // a clock went back
  EXPECT_THAT(line_of(forks, 3), ElementsAre(LinePart{3, kAlways}, LinePart{2, 40}, LinePart{1, 40}));
}

TEST(Lines, EndWhateverADamagedRecordSays) {
  const std::vector<Fork> forks{{1, 2, 5, 50}, {2, 1, 7, 120}};
  EXPECT_LE(line_of(forks, 1).size(), 3U);
  EXPECT_TRUE(related({{1, 1, 0, 0}}, 1, 1));
}

TEST(Lines, AreRelatedWhenTheyBeganAsOneRun) {
  EXPECT_TRUE(related(kForks, 1, 3));
  EXPECT_TRUE(related(kForks, 2, 3));
  EXPECT_FALSE(related(kForks, 3, 4));
}

TEST(Forks, AreOfUseAsLongAsTheyLeadToSomething) {
  EXPECT_THAT(useful_forks(kForks, {{3, 8, 130}, {1, 5, 50}}), ElementsAre(kForks[0], kForks[1]));
  EXPECT_THAT(useful_forks(kForks, {{3, 8, 130}, {2, 7, 120}}), ElementsAre(kForks[1]));
  EXPECT_THAT(useful_forks(kForks, {{3, 8, 130}, {1, 9, 90}}), IsEmpty()) << "the left rest of a branch";
  EXPECT_THAT(useful_forks(kForks, {{2, 6, 110}, {1, 4, 40}}), ElementsAre(kForks[0]));
  EXPECT_THAT(useful_forks(kForks, {}), IsEmpty());
}

using Way = BranchChoice::Way;

TEST(BranchChoices, ALaunchThatRestoredNothingBeginsAnewAndLeavesAllThereIs) {
  EXPECT_EQ(choose_branch({std::nullopt, {}}), (BranchChoice{Way::start, std::nullopt}));
  const LineVersion newest{1, 300, 30};
  EXPECT_EQ(choose_branch({std::nullopt, {{1, 100, 10}, newest, {1, 200, 20}}}), (BranchChoice{Way::start, newest}));
}

TEST(BranchChoices, WhoRestoredTheNewestOfItsBranchGoesOnWithIt) {
  const LineVersion from{1, 300, 30};
  EXPECT_EQ(choose_branch({from, {{1, 200, 20}, from}}), (BranchChoice{Way::same, std::nullopt}));
  const LineVersion of_others{2, 10, 40};
  EXPECT_EQ(choose_branch({from, {from, of_others}}), (BranchChoice{Way::same, of_others})) << "the left one goes on";
}

TEST(BranchChoices, WhoWentBackForksAndLeavesWhatIsNewer) {
  const LineVersion from{1, 5, 50}, newest{1, 10, 100};
  EXPECT_EQ(choose_branch({from, {from, {1, 6, 60}, newest}}), (BranchChoice{Way::fork, newest}));
}

TEST(BranchChoices, WhereTheStoreWasNotReadSomethingNewerIsTakenToBeThere) {
  const LineVersion from{1, 5, 50};
  EXPECT_EQ(choose_branch({from, {from}, false}), (BranchChoice{Way::fork, std::nullopt}));
  EXPECT_EQ(choose_branch({std::nullopt, {}, false}), (BranchChoice{Way::start, std::nullopt}));
}

}  // namespace
}  // namespace perdure::plan
