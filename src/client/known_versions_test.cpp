#include "client/known_versions.hpp"

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::client {
namespace {

segment::VersionId id(std::uint64_t version, std::uint64_t begun) { return {"nbody", version, {begun, 1}}; }

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
  known_.observe("nbody", *store_, false);
  EXPECT_EQ(known_.check_free("nbody", 1).error().code, PERDURE_EXISTS);
  EXPECT_TRUE(known_.check_free("nbody", 2));
  known_.written(id(2, 200));
  EXPECT_FALSE(known_.check_free("nbody", 2));
  KnownVersions replacing;
  replacing.observe("nbody", *store_, true);
  EXPECT_TRUE(replacing.check_free("nbody", 1));
}

TEST_F(KnownVersionsOfAStore, AreFreeWhenTheNameWasForgottenAndNewAttemptsAreLaterThanThat) {
  write(id(1, 100));
  constexpr std::uint64_t kForgotten = ~std::uint64_t{0} / 4;
  ASSERT_TRUE(store_->forget("nbody", kForgotten));
  known_.whole_in_tiers(id(2, 200));
  known_.observe("nbody", *store_, false);
  EXPECT_TRUE(known_.check_free("nbody", 1));
  EXPECT_TRUE(known_.check_free("nbody", 2)) << "what engines still hold is forgotten, too";
  EXPECT_GT(known_.next_attempt("nbody", 300), kForgotten);
}

TEST_F(KnownVersionsOfAStore, BeyondTheNewestAttemptAreOfABranchThatAnEarlierLaunchLeft) {
  for (std::uint64_t version = 1; version <= 4; ++version) write(id(version, 100 * version));
  write(id(2, 900));
  known_.observe("nbody", *store_, false);
  for (std::uint64_t version : {1, 2}) EXPECT_FALSE(known_.check_free("nbody", version)) << version;
  for (std::uint64_t version : {3, 4}) EXPECT_TRUE(known_.check_free("nbody", version)) << version;
}

// A launch that did not see versions 9 and 10 went on from 8, and wrote 9; its nodes have that, the store has the
// others.
TEST_F(KnownVersionsOfAStore, WithHigherNumbersThanTheProgramGoesOnFromAreFree) {
  for (std::uint64_t version = 8; version <= 10; ++version) write(id(version, 100 * version));
  for (const bool observed_before : {false, true}) {
    KnownVersions known = known_;
    if (observed_before) known.observe("nbody", *store_, false);
    known.went_back(id(9, 2000));
    known.observe("nbody", *store_, false);
    EXPECT_TRUE(known.check_free("nbody", 10)) << observed_before;
    for (std::uint64_t version : {8, 9}) EXPECT_FALSE(known.check_free("nbody", version)) << version;
  }
}

TEST_F(KnownVersionsOfAStore, OfTheBranchThatWasLeftAreFree) {
  for (std::uint64_t version = 1; version <= 4; ++version) write(id(version, 100 * version));
  known_.whole_in_tiers(id(5, 500));
  for (const bool observed_before : {false, true}) {
    KnownVersions known = known_;
    known.saw_attempt(id(5, 500));
    if (observed_before) known.observe("nbody", *store_, false);
    known.went_back(id(2, 200));
    known.observe("nbody", *store_, false);
    for (std::uint64_t version : {1, 2}) EXPECT_FALSE(known.check_free("nbody", version)) << version;
    for (std::uint64_t version : {3, 4, 5}) EXPECT_TRUE(known.check_free("nbody", version)) << version;
    EXPECT_GT(known.next_attempt("nbody", 1), 500U) << "newer than all of the branch that was left";
    known.written(id(3, 600));
    EXPECT_FALSE(known.check_free("nbody", 3)) << "its own";
  }
}

TEST_F(KnownVersionsOfAStore, OfTheTiersAreFreeWhenTheyWereRetired) {
  known_.whole_in_tiers(id(1, 100));
  known_.whole_in_tiers(id(2, 200));
  EXPECT_TRUE(known_.was_whole_in_tiers(id(1, 100)));
  known_.retired("nbody", 1);
  EXPECT_FALSE(known_.was_whole_in_tiers(id(1, 100)));
  EXPECT_TRUE(known_.was_whole_in_tiers(id(2, 200)));
  known_.observe("nbody", *store_, false);
  EXPECT_TRUE(known_.check_free("nbody", 1));
  EXPECT_FALSE(known_.check_free("nbody", 2));
  known_.retired("nbody", 2);
  EXPECT_TRUE(known_.check_free("nbody", 2));
}

TEST(KnownVersions, MeanTheAttemptThatTheProgramWentOnFromOfTheLastNumbersOnly) {
  KnownVersions known;
  EXPECT_EQ(known.meant("nbody", 1), 0U);
  for (std::uint64_t version = 1; version <= 64; ++version) known.went_on_from(id(version, 100 * version));
  EXPECT_EQ(known.meant("nbody", 1), 100U);
  known.went_on_from(id(1, 7000));
  EXPECT_EQ(known.meant("nbody", 1), 7000U) << "written again";
  known.went_on_from(id(65, 8000));
  EXPECT_EQ(known.meant("nbody", 1), 0U) << "nobody asks for so old ones";
  EXPECT_EQ(known.meant("nbody", 2), 200U);
  EXPECT_EQ(known.meant("nbody", 65), 8000U);
  EXPECT_EQ(known.meant("other", 2), 0U);
}

TEST(KnownVersions, KnowTheLastAttemptOfEachNameByItsNumber) {
  KnownVersions known;
  EXPECT_EQ(known.last("nbody", 1), std::nullopt);
  known.went_on_from(id(1, 100));
  known.went_on_from(id(2, 200));
  EXPECT_EQ(known.last("nbody", 2), id(2, 200));
  EXPECT_EQ(known.last("nbody", 1), std::nullopt) << "not the last";
  known.went_on_from(id(1, 300));
  EXPECT_EQ(known.last("nbody", 1), id(1, 300)) << "restored, or written again";
  EXPECT_EQ(known.last("nbody", 2), std::nullopt);
  EXPECT_EQ(known.last("other", 1), std::nullopt);
}

}  // namespace
}  // namespace perdure::client
