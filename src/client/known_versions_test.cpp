// A rank learns from the store which versions are taken.
#include "client/known_versions.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::client {
namespace {

segment::VersionId id(std::uint64_t version, std::uint64_t begun, plan::Branch branch = plan::kFirstBranch) {
  return {"nbody", version, {begun, plan::nonce_on(branch, 1)}};
}

const plan::Line kFirst = plan::line_of({}, plan::kFirstBranch);
/// Branch 1 goes on from the attempt begun at 200 on the first branch.
const plan::Line kForked = plan::line_of({{1, plan::kFirstBranch, 2, 200}}, 1);

class KnownVersionsOfAStore : public testing::Test {
 protected:
  KnownVersionsOfAStore() { EXPECT_TRUE(store_->prepare()); }
  void write(const segment::VersionId& written) {
    for (const auto& manifest : test_support::sample_version(written, 2))
      ASSERT_TRUE(test_support::write_segment(*store_, manifest));
  }
  test_support::TemporaryDirectory directory_;
  std::unique_ptr<store::Store> store_ = store::make_store(directory_ / "store").value();
  KnownVersions known_;
};

TEST_F(KnownVersionsOfAStore, AreTakenUnlessTheyAreToBeReplaced) {
  write(id(1, 100));
  known_.observe("nbody", *store_, false, kFirst);
  EXPECT_EQ(known_.check_free("nbody", 1).error().code, PERDURE_EXISTS);
  EXPECT_TRUE(known_.check_free("nbody", 2));
  known_.written(id(2, 200));
  EXPECT_FALSE(known_.check_free("nbody", 2));
  KnownVersions replacing;
  replacing.observe("nbody", *store_, true, kFirst);
  EXPECT_TRUE(replacing.check_free("nbody", 1));
}

TEST_F(KnownVersionsOfAStore, AreFreeWhenTheNameWasForgottenAndNewAttemptsAreLaterThanThat) {
  write(id(1, 100));
  constexpr std::uint64_t kForgotten = ~std::uint64_t{0} / 4;
  ASSERT_TRUE(store_->forget("nbody", kForgotten));
  known_.whole_in_tiers(id(2, 200));
  known_.observe("nbody", *store_, false, kFirst);
  EXPECT_TRUE(known_.check_free("nbody", 1));
  EXPECT_TRUE(known_.check_free("nbody", 2)) << "what engines still hold is forgotten, too";
  EXPECT_GT(known_.next_attempt("nbody", 300), kForgotten);
}

// An older Perdure named no branches: if a program went back, only the order of attempts shows it.
TEST_F(KnownVersionsOfAStore, BeyondTheNewestAttemptAreOfABranchThatAnOlderPerdureLeft) {
  for (std::uint64_t version = 1; version <= 4; ++version) write(id(version, 100 * version));
  write(id(2, 900));
  known_.observe("nbody", *store_, false, kFirst);
  for (std::uint64_t version : {1, 2}) EXPECT_FALSE(known_.check_free("nbody", version)) << version;
  for (std::uint64_t version : {3, 4}) EXPECT_TRUE(known_.check_free("nbody", version)) << version;
}

TEST_F(KnownVersionsOfAStore, OfOtherBranchesAreFree) {
  for (std::uint64_t version = 1; version <= 4; ++version) write(id(version, 100 * version));
  known_.whole_in_tiers(id(5, 500));
  known_.observe("nbody", *store_, false, plan::line_of({}, 9));
  for (std::uint64_t version = 1; version <= 5; ++version) EXPECT_TRUE(known_.check_free("nbody", version)) << version;
}

TEST_F(KnownVersionsOfAStore, AreLookedAtAnewWhenTheProgramGoesBack) {
  for (std::uint64_t version = 1; version <= 4; ++version) write(id(version, 100 * version));
  known_.whole_in_tiers(id(5, 500));
  for (const bool observed_before : {false, true}) {
    KnownVersions known = known_;
    known.saw_attempt(id(5, 500));
    if (observed_before) known.observe("nbody", *store_, false, kFirst);
    known.went_back(id(2, 200));
    known.observe("nbody", *store_, false, kForked);
    for (std::uint64_t version : {1, 2}) EXPECT_FALSE(known.check_free("nbody", version)) << version;
    for (std::uint64_t version : {3, 4, 5}) EXPECT_TRUE(known.check_free("nbody", version)) << version;
    EXPECT_GT(known.next_attempt("nbody", 1), 500U) << "newer than all of the branch that was left";
    known.written(id(3, 600, 1));
    EXPECT_FALSE(known.check_free("nbody", 3)) << "its own";
    known.went_back(id(3, 600, 1));
    known.observe("nbody", *store_, false, kForked);
    EXPECT_FALSE(known.check_free("nbody", 3)) << "which may be nowhere but in the tiers";
  }
}

TEST_F(KnownVersionsOfAStore, OfTheTiersAreFreeWhenTheyWereRetired) {
  known_.whole_in_tiers(id(1, 100));
  known_.whole_in_tiers(id(2, 200));
  EXPECT_TRUE(known_.was_whole_in_tiers(id(1, 100)));
  known_.retired("nbody", 1, kFirst);
  EXPECT_FALSE(known_.was_whole_in_tiers(id(1, 100)));
  EXPECT_TRUE(known_.was_whole_in_tiers(id(2, 200)));
  known_.observe("nbody", *store_, false, kFirst);
  EXPECT_TRUE(known_.check_free("nbody", 1));
  EXPECT_FALSE(known_.check_free("nbody", 2));
  known_.retired("nbody", 2, kFirst);
  EXPECT_TRUE(known_.check_free("nbody", 2));
}

TEST(KnownVersions, OfAnotherLineAreNotRetiredWithTheirNumber) {
  KnownVersions known;
  known.whole_in_tiers(id(3, 300));
  known.whole_in_tiers(id(3, 600, 1));
  known.retired("nbody", 3, kForked);
  EXPECT_TRUE(known.was_whole_in_tiers(id(3, 300)));
  EXPECT_FALSE(known.was_whole_in_tiers(id(3, 600, 1)));
}

TEST(KnownVersions, KnowTheNewestCompleteAttemptOfEachBranch) {
  KnownVersions known;
  EXPECT_TRUE(known.complete("nbody").empty());
  known.was_complete(id(1, 100));
  known.whole_in_tiers(id(4, 400));
  known.was_complete(id(2, 200));
  known.written(id(1, 500, 7));
  EXPECT_EQ(known.complete("nbody"), (std::vector{id(4, 400), id(1, 500, 7)}));
  known.look_again();
  EXPECT_EQ(known.complete("nbody").size(), 2U) << "that an engine has it no more changes nothing";
}

TEST(KnownVersions, KnowOlderVersionsOfABranchToo) {
  KnownVersions known;
  EXPECT_TRUE(known.seen("nbody").empty());
  for (const std::uint64_t version : {1, 4}) known.whole_in_tiers(id(version, 100 * version));
  for (const std::uint64_t version : {2, 3}) known.written(id(version, 300 * version, 7));
  const auto seen = known.seen("nbody");
  const std::vector<plan::LineVersion> expected{
      {plan::kFirstBranch, 1, 100}, {plan::kFirstBranch, 4, 400}, {7, 2, 600}, {7, 3, 900}};
  for (const plan::LineVersion& one : expected)
    EXPECT_NE(std::find(seen.begin(), seen.end(), one), seen.end()) << one.version;
}

TEST(UnrecordedForks, AreTriedAgainAtTimesUnlessTheStoreTakesNone) {
  UnrecordedForks forks;
  EXPECT_FALSE(forks.due(UnrecordedForks::kAgain_ns)) << "there are none";
  forks.add({7, 0, 1, 100});
  forks.tried_ns = 1000;
  EXPECT_FALSE(forks.due(1001));
  EXPECT_TRUE(forks.due(1000 + UnrecordedForks::kAgain_ns));
  forks.hopeless = true;
  EXPECT_FALSE(forks.due(1000 + UnrecordedForks::kAgain_ns));
  forks.add({8, 7, 2, 200});
  EXPECT_TRUE(forks.due(UnrecordedForks::kAgain_ns)) << "another one";
  EXPECT_EQ(forks.forks.size(), 2U);
}

TEST(KnownVersions, DecideOnABranchOnceAndAnewWhenTheProgramGoesBack) {
  KnownVersions known;
  EXPECT_EQ(known.written_branch("nbody"), std::nullopt);
  known.writes_on("nbody", 7);
  EXPECT_EQ(known.written_branch("nbody"), 7U);
  EXPECT_EQ(known.written_branch("other"), std::nullopt);
  known.went_back(id(1, 100));
  EXPECT_EQ(known.written_branch("nbody"), std::nullopt);
}

TEST(KnownVersions, MeanTheAttemptThatTheProgramWentOnFromOfTheLastNumbersOnly) {
  KnownVersions known;
  EXPECT_EQ(known.meant("nbody", 1), 0U);
  for (std::uint64_t version = 1; version <= 64; ++version) known.went_on_from(id(version, 100 * version));
  EXPECT_EQ(known.meant("nbody", 1), 100U);
  known.went_on_from(id(1, 7000));
  EXPECT_EQ(known.meant("nbody", 1), 7000U) << "written again";
  known.went_on_from(id(65, 8000));
  EXPECT_EQ(known.meant("nbody", 2), 0U) << "nobody asks for so old ones";
  EXPECT_EQ(known.meant("nbody", 1), 7000U) << "a low number, of an attempt that is not old";
  EXPECT_EQ(known.meant("nbody", 3), 300U);
  EXPECT_EQ(known.meant("nbody", 65), 8000U);
  known.went_on_from(id(90, 5));
  EXPECT_EQ(known.meant("nbody", 90), 5U) << "the oldest, and what the program went back to just now";
  EXPECT_EQ(known.meant("nbody", 3), 0U);
  EXPECT_EQ(known.meant("other", 2), 0U);
}

TEST(KnownVersions, KnowTheLastAttemptOfEachNameByItsNumber) {
  KnownVersions known;
  EXPECT_EQ(known.last("nbody", 1), std::nullopt);
  EXPECT_EQ(known.last("nbody"), std::nullopt);
  known.went_on_from(id(1, 100));
  known.went_on_from(id(2, 200));
  EXPECT_EQ(known.last("nbody", 2), id(2, 200));
  EXPECT_EQ(known.last("nbody"), id(2, 200));
  EXPECT_EQ(known.last("nbody", 1), std::nullopt) << "not the last";
  known.went_on_from(id(1, 300));
  EXPECT_EQ(known.last("nbody", 1), id(1, 300)) << "restored, or written again";
  EXPECT_EQ(known.last("nbody", 2), std::nullopt);
  EXPECT_EQ(known.last("other", 1), std::nullopt);
}

}  // namespace
}  // namespace perdure::client
