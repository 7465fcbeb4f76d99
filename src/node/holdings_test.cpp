#include "node/holdings.hpp"

#include <gtest/gtest.h>

#include "node/store_look.hpp"
#include "support/sample_records.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::node {
namespace {

using test_support::captured_on;
using test_support::sample_id;
using test_support::sample_stage;
using Part = Holding::Part;

Holding only(const catalog::State& state) {
  const auto holdings = holdings_of(state);
  EXPECT_EQ(holdings.size(), 1u);
  return holdings.empty() ? Holding() : holdings[0];
}

TEST(Holdings, OfACommittedVersionAreStoredWhenAllItsSegmentsAre) {
  const auto id = sample_id(1);
  catalog::State state = test_support::fold({sample_stage(id, 0, 2), sample_stage(id, 1, 2),
                                             catalog::CommitRecord{id, {{0, 2, {0}, false}, {1, 2, {1}, false}}}});
  EXPECT_EQ(only(state), (Holding{id, 10000, Part::unstored, false}));
  state.apply(catalog::StoredRecord{id, 0});
  EXPECT_EQ(only(state).part, Part::unstored);
  state.apply(catalog::StoredRecord{id, 1});
  EXPECT_EQ(only(state).part, Part::stored);
  EXPECT_EQ(only(state).text(), "nbody version 1 (9.8 KiB)");
  state.apply(catalog::GoneRecord{id, 1});
  EXPECT_EQ(only(state).part, Part::unstored);
  state.apply(catalog::DropRecord{id});
  EXPECT_TRUE(holdings_of(state).empty());
}

// The node with the other piece may have committed it.
TEST(Holdings, OfAnUndecidedVersionCountUnlessItCanNeverBeCommitted) {
  const auto id = sample_id(1);
  EXPECT_EQ(only(test_support::fold({sample_stage(id, 0, 2)})).part, Part::unstored);
  EXPECT_EQ(only(test_support::fold({captured_on(sample_stage(id, 0, 2), {3, 4})})).part, Part::unstored);
  catalog::State alone = test_support::fold({captured_on(sample_stage(id, 0, 2), {3})});
  EXPECT_EQ(only(alone).part, Part::none);
  EXPECT_FALSE(only(alone).needs_store());
  alone.apply(sample_stage(id, 1, 2));
  EXPECT_EQ(only(alone).part, Part::unstored);
}

TEST(Holdings, OfOtherNodesCount) {
  const auto id = sample_id(1);
  const auto state = test_support::fold({catalog::RedundancyRecord{test_support::sample_redundancy_set(id, 5)}});
  EXPECT_EQ(only(state), (Holding{id, 5000, Part::none, true}));
  EXPECT_TRUE(only(state).needs_store());
}

TEST(Holdings, AreMadeUpForByTheVeryAttemptInTheStore) {
  const Holding unstored{sample_id(3), 7, Part::unstored, true};
  segment::VersionId other = sample_id(3);
  ++other.attempt.nonce;
  EXPECT_FALSE(makes_up_for({}, unstored));
  EXPECT_FALSE(makes_up_for({{other}, {}, 0}, unstored)) << "another attempt at the same number";
  EXPECT_FALSE(makes_up_for({{sample_id(9)}, {}, 0}, unstored)) << "the store never had it";
  EXPECT_TRUE(makes_up_for({{sample_id(3)}, {}, 0}, unstored));
  EXPECT_TRUE(makes_up_for({}, Holding{sample_id(3), 7, Part::none, false}));
}

TEST(Holdings, ThatWereRetiredOrForgottenAreNotMissed) {
  for (const bool kept_for_others : {false, true}) {
    const Holding stored{sample_id(3), 7, kept_for_others ? Part::none : Part::stored, kept_for_others};
    EXPECT_FALSE(makes_up_for({}, stored)) << "the store was removed";
    EXPECT_FALSE(makes_up_for({{sample_id(2)}, {}, 0}, stored)) << "only older ones are there";
    EXPECT_TRUE(makes_up_for({{sample_id(4)}, {}, 0}, stored));
    EXPECT_FALSE(makes_up_for({{sample_id(4)}, {sample_id(3)}, 0}, stored)) << "it was damaged there";
  }
  segment::VersionId left = sample_id(3);
  left.attempt.nonce = plan::nonce_on(0xabc, 0);
  const Holding of_another_branch{left, 7, Part::stored, false};
  EXPECT_FALSE(makes_up_for({{sample_id(4)}, {}, 0}, of_another_branch)) << "what is newer does not go on from it";
  segment::VersionId went_on = sample_id(4);
  went_on.attempt.nonce = plan::nonce_on(0xdef, 0);
  const plan::Fork fork{0xdef, 0xabc, 3, left.attempt.created_ns};
  EXPECT_FALSE(makes_up_for({{went_on}, {}, 0, {}}, of_another_branch));
  EXPECT_TRUE(makes_up_for({{went_on}, {}, 0, {fork}}, of_another_branch));
  const Holding unstored{sample_id(3), 7, Part::unstored, false};
  EXPECT_TRUE(makes_up_for({{}, {}, unstored.id.attempt.created_ns}, unstored));
  EXPECT_FALSE(makes_up_for({{}, {}, unstored.id.attempt.created_ns - 1}, unstored));
}

segment::VersionId on_branch(plan::Branch branch, std::uint64_t number) {
  segment::VersionId id = sample_id(number);
  id.attempt.nonce = plan::nonce_on(branch, 0);
  return id;
}

TEST(Holdings, RelyOnTheNewestOfTheirOwnBranch) {
  const std::vector<Holding> holdings{{on_branch(0xabc, 2), 7, Part::stored, false}};
  const StoreFacts facts{{on_branch(0xabc, 3), on_branch(0xabc, 4), on_branch(0xdef, 5)}, {}, 0};
  EXPECT_TRUE(makes_up_for(facts, holdings[0]));
  EXPECT_EQ(relied_on(facts, holdings), (std::set{on_branch(0xabc, 4)}));
  EXPECT_TRUE(relied_on({{on_branch(0xdef, 5)}, {}, 0}, holdings).empty()) << "it goes on from nothing that is held";
}

TEST(Holdings, OfALeftBranchAreMadeUpForByTheNewestThatTheStoreHasOfIt) {
  test_support::TemporaryDirectory directory;
  const auto store = store::make_store(directory / "store").value();
  ASSERT_TRUE(store->prepare());
  for (const auto& id : {on_branch(0xabc, 3), on_branch(0xabc, 4), on_branch(0xdef, 5)})
    for (const auto& manifest : test_support::sample_version(id, 1))
      ASSERT_TRUE(test_support::write_segment(*store, manifest));
  const Holding retired{on_branch(0xabc, 2), 7, Part::stored, false};
  const auto facts = facts_of(*store, retired.id.name, {retired.id});
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_EQ(facts->whole, (std::set{on_branch(0xabc, 4), on_branch(0xdef, 5)}));
  EXPECT_TRUE(makes_up_for(*facts, retired));
}

TEST(Holdings, RelyOnWhatTheStoreHasOfThemAndOnTheNewest) {
  const std::vector<Holding> holdings{{sample_id(2), 7, Part::stored, false}, {sample_id(3), 7, Part::stored, false}};
  const StoreFacts facts{{sample_id(2), sample_id(5), sample_id(6)}, {}, 0};
  EXPECT_EQ(relied_on(facts, holdings), (std::set{sample_id(2), sample_id(6)}));
}

}  // namespace
}  // namespace perdure::node
