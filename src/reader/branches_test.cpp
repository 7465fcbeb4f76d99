#include "reader/branches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/directory.hpp"
#include "reader/inventory.hpp"
#include "reader/stored_content.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::reader {
namespace {

using testing::HasSubstr;

constexpr plan::Branch kOld = 0x3f9a12, kNew = 0x00beef;

/// Tests what is newest and what a number means: versions 100 and 200 of a run, and 10 of a start after it.
class BranchesOfAName : public testing::Test {
 protected:
  BranchesOfAName() {
    EXPECT_TRUE(store_->prepare());
    write(100, 1, kOld), write(200, 2, kOld), write(10, 3, kNew);
  }
  void write(std::uint64_t version, std::uint64_t begun, plan::Branch branch) {
    for (const auto& manifest : test_support::sample_version({"run", version, {begun, plan::nonce_on(branch, 1)}}, 2))
      ASSERT_TRUE(test_support::write_segment(*store_, manifest));
  }
  std::uint64_t found(std::optional<std::uint64_t> version, std::optional<plan::Branch> branch = std::nullopt) const {
    const auto listing = find_version(*store_, "run", version, branch);
    EXPECT_TRUE(listing) << listing.error().text();
    return listing ? listing->id.attempt.created_ns : 0;
  }
  test_support::TemporaryDirectory directory_;
  std::unique_ptr<store::Store> store_ = store::make_store(directory_ / "store").value();
};

TEST_F(BranchesOfAName, HaveOneNewest) {
  EXPECT_EQ(found(std::nullopt), 3U);
  EXPECT_EQ(newest_complete(*store_).value().at("run"), 10U);
  EXPECT_EQ(found(std::nullopt, kOld), 2U);
}

TEST_F(BranchesOfAName, GiveANumberItsMeaning) {
  write(100, 4, kNew);
  EXPECT_EQ(found(100), 4U);
  EXPECT_EQ(found(100, kOld), 1U);
  const auto left = find_version(*store_, "run", 200);
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().code, PERDURE_MISMATCH) << "there is something of the name";
  EXPECT_THAT(left.error().text(),
              HasSubstr("its versions are 10, 100; a branch that was left has it: run@3f9a12:200"));
  const auto none = find_version(*store_, "run", 7);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, PERDURE_MISMATCH);
  EXPECT_EQ(none.error().remedy, "its versions are 10, 100");
  EXPECT_EQ(find_version(*store_, "rum", 7).error().code, PERDURE_NOT_FOUND);
  const auto other = find_version(*store_, "run", std::nullopt, 0x123);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, PERDURE_MISMATCH);
  EXPECT_EQ(other.error().remedy, "another branch has run@" + plan::branch_text(kNew) + ":100");
}

TEST_F(BranchesOfAName, CountWhatALineWentOnFrom) {
  ASSERT_TRUE(store::set_forks(*store_, "run", {{kNew, kOld, 100, 1}}));
  EXPECT_EQ(found(100), 1U);
  EXPECT_FALSE(find_version(*store_, "run", 200)) << "it came after the fork";
}

// Versions that a launch holds on nodes may be all that exists of a name so far.
TEST_F(BranchesOfAName, AreKnownBeforeAnythingIsStored) {
  const std::vector<plan::Fork> forks{{kNew, kOld, 100, 1}};
  ASSERT_TRUE(store::set_forks(*store_, "other", forks));
  EXPECT_EQ(branches_of(*store_, "other", {}).value().forks, forks);
}

TEST_F(BranchesOfAName, SayThatTheRecordOfForksIsDamaged) {
  const auto listings = store_->list("run").value();
  EXPECT_FALSE(branches_of(*store_, "run", listings).value().damage);
  ASSERT_TRUE(store::set_forks(*store_, "run", {{kNew, kOld, 100, 1}}));
  EXPECT_FALSE(branches_of(*store_, "run", listings).value().damage);
  const auto place = os::Directory::open(directory_ / "store/run").value();
  ASSERT_TRUE(place.write_file_atomically(".forks", base::as_bytes("damaged")));
  const auto branches = branches_of(*store_, "run", listings).value();
  ASSERT_TRUE(branches.damage);
  EXPECT_THAT(branches.damage->text(), HasSubstr(".forks"));
  EXPECT_TRUE(branches.forks.empty());
}

TEST_F(BranchesOfAName, StayLeftWhenTheCurrentOneIsDamaged) {
  const auto newest = find_version(*store_, "run", std::nullopt).value();
  ASSERT_TRUE(store_->quarantine(newest.segments[0], newest.id, {PERDURE_CORRUPT, "x", "damaged", "", false}));
  const auto found_now = find_version(*store_, "run", std::nullopt);
  ASSERT_FALSE(found_now) << found_now->id.text();
  EXPECT_EQ(found_now.error().code, PERDURE_INCOMPLETE);
  EXPECT_FALSE(newest_complete(*store_).value().contains("run"));
}

TEST_F(BranchesOfAName, AreNotBegunByWhatIsOnlyHalfThere) {
  const auto manifests = test_support::sample_version({"run", 11, {9, plan::nonce_on(7, 1)}}, 2);
  ASSERT_TRUE(test_support::write_segment(*store_, manifests[0]));
  EXPECT_EQ(found(std::nullopt), 3U);
}

}  // namespace
}  // namespace perdure::reader
