// Tests what policies see, and what follows from their decisions.
#include "config/config.hpp"
#include "engine/ledger/node_state_testing.hpp"

namespace perdure::engine {
namespace {

using Kind = GrantOutcome::Kind;
using placement::Reason;

// The last view of a test's policy, and its answers.
struct Seen {
  std::vector<placement::TierState> tiers;
  placement::FlushOutlook flush;
  placement::QueueState queue;
  std::vector<placement::Decision> answers;  // one after the other; the last is repeated
  std::size_t asked = 0;
};
Seen seen;

placement::Decision show(const placement::View& view) {
  seen.tiers.assign(view.tiers.begin(), view.tiers.end());
  seen.flush = view.flush;
  seen.queue = view.queue;
  return seen.answers[std::min(seen.asked++, seen.answers.size() - 1)];
}
const placement::Policy kShow{"show", "for tests", show};

placement::Decision take(std::size_t tier) { return {tier, Reason::fastest, 0, 0, 0, 0}; }
placement::Decision wait() { return {std::nullopt, Reason::wait_flush_faster, 0, 0, 0, 0}; }

class NodeStatePlacement : public NodeStateFixture {
 protected:
  void open_shown(const std::vector<std::uint64_t>& slots, std::vector<placement::Decision> answers) {
    seen = {};
    seen.answers = std::move(answers);
    NodeStateOptions options;
    options.policy = &kShow;
    open(slots, timed(options));
  }
  NodeStateOptions with_policy(const char* name) {
    NodeStateOptions options;
    options.policy = placement::find_policy(name).value();
    options.chunk_bytes = kChunk;
    return timed(options);
  }
  unsigned readers() { return core->outlook.tiers(1, {id(9), kChunk, 0, {}, {}}, false)[0].readers; }
  /// Flushes one chunk of tier 0 with a measurable duration. That stores the first version that waits for a flush.
  void flush_slowly(std::uint64_t version, std::uint64_t bytes) {
    ASSERT_EQ(core->flushes.next(), id(version));
    flush_slowly_again(version, bytes);
  }
  void flush_slowly_again(std::uint64_t version, std::uint64_t bytes) {
    const auto& held = core->find(id(version))->pieces.at(0).chunks[0];
    const FlushedChunk chunk{{0, 0}, {held.place, held.offset}, 4096, bytes};
    const auto started = core->flushes.chunk_begins(id(version), chunk);
    ASSERT_TRUE(started);
    time_s += 1e-3;
    core->flushes.chunk_ended(id(version), chunk, *started, true, false);
  }
};

TEST_F(NodeStatePlacement, PoliciesSeeSlotsThatAreFreeThatCanBeFreedAndThatWillBeFreed) {
  open_shown({4, 3}, {take(0)});
  ASSERT_TRUE(checkpoint(1));  // will be stored, so its slot can be freed
  ASSERT_TRUE(checkpoint(2));  // will be flushed
  ASSERT_EQ(core->flushes.next(), id(1));
  store(1);
  ASSERT_EQ(grant(5, id(3)).kind, Kind::granted);  // is being written
  ASSERT_EQ(grant(6, id(3)).kind, Kind::granted);
  EXPECT_EQ(seen.tiers[0].slots, 4u);
  EXPECT_EQ(seen.tiers[0].free_slots, 2u) << "one was never used, and version 1 can go";
  EXPECT_EQ(seen.tiers[0].slots_to_come, 1u) << "version 2";
  EXPECT_EQ(seen.tiers[0].chunks_unflushed, 2u) << "version 2, and what client 5 writes";
  EXPECT_EQ(seen.tiers[0].writers, 1u) << "client 5; the one that asks does not count";
  EXPECT_EQ(seen.tiers[1].slots, 3u);
  EXPECT_EQ(seen.tiers[1].free_slots, 3u);
  EXPECT_FALSE(seen.tiers[0].failed || seen.tiers[1].failed);
}

TEST_F(NodeStatePlacement, NothingIsToComeFromAStoreThatFails) {
  open_shown({2}, {take(0)});
  ASSERT_TRUE(checkpoint(1));
  (void)core->outlook.tiers(1, {id(2), kChunk, 0, {}, {}}, false);
  EXPECT_EQ(core->outlook.tiers(1, {id(2), kChunk, 0, {}, {}}, false)[0].slots_to_come, 1u);
  (void)core->flushes.next();
  core->flushes.failed(id(1), {PERDURE_IO, "store", "it burns", "", true}, false);
  EXPECT_EQ(core->outlook.tiers(1, {id(2), kChunk, 0, {}, {}}, false)[0].slots_to_come, 0u);
}

TEST_F(NodeStatePlacement, ATierThatARankAvoidsHasNothingForIt) {
  open_shown({2, 2}, {take(0)});
  ASSERT_TRUE(checkpoint(1));
  seen.answers = {take(1)};
  ASSERT_EQ(grant(1, id(2), {0}).kind, Kind::granted);
  EXPECT_TRUE(seen.tiers[0].failed);
  EXPECT_EQ(seen.tiers[0].free_slots + seen.tiers[0].slots_to_come, 0u);
}

TEST_F(NodeStatePlacement, ChunksToComeAreThoseOfAllRanksThatWereNotGranted) {
  open_shown({8}, {take(0)});
  (void)core->grants.reserve(1, {kChunk, kChunk, kChunk});
  (void)core->grants.reserve(2, {kChunk, kChunk});
  ASSERT_EQ(core->grants.grant(1, {id(1), kChunk, 0, {}, {}}, {2, 0, false}).kind, Kind::granted);
  EXPECT_EQ(seen.queue.waiting, 2u);
  EXPECT_EQ(seen.queue.chunks_to_come, 5u) << "the one that is asked for included";
  ASSERT_EQ(grant(1, id(1)).kind, Kind::granted);
  EXPECT_EQ(seen.queue.chunks_to_come, 4u);
  core->client_gone(1);
  ASSERT_EQ(grant(2, id(2)).kind, Kind::granted);
  EXPECT_EQ(seen.queue.chunks_to_come, 2u) << "of another checkpoint";
}

TEST_F(NodeStatePlacement, WhenTheChosenTierFailsThePolicyIsAskedAgain) {
  open_shown({1, 1}, {take(0)});
  ASSERT_EQ(grant(1, id(1)).kind, Kind::granted);
  seen.asked = 0;
  seen.answers = {take(0), take(1)};  // tier 0 has no room
  EXPECT_EQ(grant(2, id(1)).address.tier, 1u);
  EXPECT_EQ(seen.tiers[0].free_slots, 0u);
  EXPECT_EQ(seen.asked, 2u);
}

TEST_F(NodeStatePlacement, NothingIsEvictedForAPolicyThatWaits) {
  open_shown({1}, {take(0), wait()});
  ASSERT_TRUE(checkpoint(1));
  store(1);
  ASSERT_EQ(core->grants.grant(1, {id(2), kChunk, 0, {}, {}}).kind, Kind::wait);
  EXPECT_NE(core->find(id(1)), nullptr);
}

TEST_F(NodeStatePlacement, HybridOptWaitsForAFasterFlushAndTakesTheSlowTierRatherThanNothing) {
  open({1, 4}, with_policy("hybrid-opt"));
  ASSERT_TRUE(checkpoint(1));
  EXPECT_EQ(grant(1, id(2)).address.tier, 1u) << "nothing is known of flushes yet";
  ASSERT_TRUE(core->held.abort(1, id(2)));
  ASSERT_TRUE(checkpoint(3, 3));
  flush_slowly(1, 1ULL << 40);  // far faster than any tier
  EXPECT_EQ(grant(1, id(4)).kind, Kind::wait);
  EXPECT_EQ(core->grants.decisions().recent().back().decision.reason, Reason::wait_flush_faster);
  EXPECT_EQ(core->grants.grant(1, {id(4), kChunk, 0, {}, {}}, {1, 7, true}).address.tier, 1u) << "the last chance";
  EXPECT_EQ(core->grants.decisions().recent().back().rank, 7u);
  core->flushes.failed(id(1), {PERDURE_IO, "store", "it burns", "", true}, false);
  EXPECT_EQ(grant(2, id(4)).address.tier, 1u) << "no flush will free anything";
}

TEST_F(NodeStatePlacement, PoliciesSeeWhatTheFlushesSustain) {
  open_shown({4}, {take(0)});
  ASSERT_TRUE(checkpoint(1));
  EXPECT_EQ(seen.flush.sustained_bytes_per_s, 0) << "nothing was flushed yet";
  flush_slowly(1, 1ULL << 40);
  flush_slowly_again(1, 1 << 20);
  ASSERT_EQ(grant(1, id(2)).kind, Kind::granted);
  EXPECT_GT(seen.flush.sustained_bytes_per_s, 0);
  EXPECT_LT(seen.flush.sustained_bytes_per_s, seen.flush.bytes_per_s / 2) << "the burst counts as long as it took";
}

TEST_F(NodeStatePlacement, PoliciesSeeWhenAFlushWillFreeASlot) {
  open_shown({4}, {take(0)});
  ASSERT_TRUE(checkpoint(1));
  EXPECT_EQ(seen.flush.next_slot_s, 0) << "nobody knows yet";
  flush_slowly(1, 1 << 20);
  const auto& held = core->find(id(1))->pieces.at(0).chunks[0];
  const FlushedChunk chunk{{0, 0}, {held.place, held.offset}, 4096, 1 << 20};
  const auto started = core->flushes.chunk_begins(id(1), chunk);
  ASSERT_TRUE(started);
  EXPECT_EQ(core->flush_meter().running(), 1u);
  ASSERT_EQ(grant(1, id(2)).kind, Kind::granted);
  EXPECT_GT(seen.flush.next_slot_s, 0);
  core->flushes.chunk_ended(id(1), chunk, *started, true, false);
  EXPECT_EQ(core->flush_meter().running(), 0u);
}

TEST_F(NodeStatePlacement, NothingIsLostToTheFastTierWhileASlowerOneHasRoom) {
  open({1, 2});
  for (std::uint64_t version : {1, 2}) ASSERT_TRUE(checkpoint(version));
  (void)core->flushes.next();
  core->flushes.failed(id(1), {PERDURE_IO, "store", "it burns", "", true}, false);
  EXPECT_EQ(grant(1, id(3)).address.tier, 1u);
  EXPECT_NE(core->find(id(1)), nullptr) << "superseded, but not stored";
  EXPECT_EQ(grant(1, id(3)).address.tier, 0u) << "now it has to go";
  EXPECT_TRUE(core->lost(id(1)));
}

// Another rank has not staged it yet. It may be aborted, and then the older one is all there is.
TEST_F(NodeStatePlacement, NothingIsLostForAVersionThatIsNotCommitted) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  (void)core->flushes.next();
  core->flushes.failed(id(1), {PERDURE_IO, "store", "it burns", "", true}, false);
  const auto first = grant(1, id(2));
  ASSERT_EQ(first.kind, Kind::granted);
  ipc::Stage half = staged(id(2), {first.address});
  half.ranks = 2;
  ASSERT_TRUE(core->held.stage(1, half));
  EXPECT_NE(grant(2, id(2)).kind, Kind::granted) << "not for the version itself";
  EXPECT_NE(grant(2, id(3)).kind, Kind::granted) << "nor for the next one";
  EXPECT_NE(core->find(id(1)), nullptr);
  EXPECT_FALSE(core->lost(id(1)));
}

TEST_F(NodeStatePlacement, PredictionsFollowWhatIsObserved) {
  open({4}, with_policy("hybrid-opt"));
  const ipc::Grant request{id(1), kChunk, 0, {}, {}};
  const double before = core->outlook.tiers(1, request, false)[0].model->bytes_per_s(1);
  const auto slot = core->grants.grant(1, request).address;
  time_s += 5e-3;  // at most 13 MB/s
  const ipc::Written written{id(1), 0, 0, slot.tier, slot.slot, kChunk, {}};
  const auto status = core->writes.written(1, written);
  ASSERT_TRUE(status && *status);
  EXPECT_LT(core->outlook.tiers(1, request, false)[0].model->bytes_per_s(1), before);
  EXPECT_EQ(core->outlook.tiers(1, request, false)[0].model->observations(), 1u);
  const auto small = core->grants.grant(1, {id(1), 100, 0, {}, {}}).address;
  const auto said = core->writes.written(1, {id(1), 0, 1, small.tier, small.slot, 100, {}});
  ASSERT_TRUE(said && *said);
  EXPECT_EQ(core->outlook.tiers(1, request, false)[0].model->observations(), 1u) << "too small to say anything";
  const auto half = core->grants.grant(1, {id(1), kChunk / 2, 0, {}, {}}).address;
  time_s += 5e-3;
  ASSERT_TRUE(core->writes.written(1, {id(1), 0, 2, half.tier, half.slot, kChunk / 2, {}}));
  EXPECT_EQ(core->outlook.tiers(1, request, false)[0].model->observations(), 2u) << "half a chunk says enough";
}

TEST_F(NodeStatePlacement, DecisionsAreCountedAndTheLastAreKept) {
  open({100});
  for (std::uint64_t version = 1; version <= 100; ++version) ASSERT_TRUE(checkpoint(version));
  EXPECT_EQ(core->grants.decisions().counts().at(Reason::first_with_room), 100u);
  EXPECT_EQ(core->grants.decisions().recent().size(), DecisionLog::kKept);
  EXPECT_EQ(core->grants.decisions().recent().back().id, id(100));
  for (int again = 0; again < 10; ++again) EXPECT_EQ(grant(1, id(102)).kind, Kind::wait);
  EXPECT_EQ(core->grants.decisions().counts().at(Reason::wait_full), 1u) << "one wait, however often it is looked at";
  EXPECT_EQ(core->grants.decisions().recent().back().times, 10u);
  EXPECT_EQ(core->grants.decisions().recent().size(), DecisionLog::kKept);
}

TEST(PlacementPolicy, TheOptionOffersThePoliciesThereAre) {
  std::string known;
  for (const auto& policy : placement::policies()) known += std::string(policy.name) + " ";
  const std::string offered = config::choices_of(*config::find_option("placement.policy"));
  std::size_t count = 0;
  for (std::size_t from = 0; from <= offered.size();) {
    const std::size_t bar = std::min(offered.find('|', from), offered.size());
    EXPECT_TRUE(placement::find_policy(offered.substr(from, bar - from))) << offered.substr(from, bar - from);
    from = bar + 1;
    ++count;
  }
  EXPECT_EQ(count, placement::policies().size()) << known;
}

TEST_F(NodeStatePlacement, WhatASlowTierTakesToBeReadDoesNotMakeTheStoreLookSlow) {
  open({2}, timed());
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(checkpoint(2));
  const auto flush = [this](std::uint64_t version, bool slow) {
    const auto& held = core->find(id(version))->pieces.at(0).chunks[0];
    const FlushedChunk chunk{{0, 0}, {held.place, held.offset}, 4096, kChunk};
    auto started = core->flushes.chunk_begins(id(version), chunk).value();
    EXPECT_EQ(readers(), 1u);
    if (slow) time_s += 20e-3;
    core->flush_meter().reads(chunk.slot.first, started, false);
    EXPECT_EQ(readers(), 0u) << "it has been read";
    if (!slow) time_s += 1e-3;
    core->flushes.chunk_ended(id(version), chunk, started, true, false);
    EXPECT_EQ(readers(), 0u);
    return core->outlook.flushes().bytes_per_s;
  };
  const double known = flush(1, false);
  EXPECT_GT(known, 0);
  EXPECT_EQ(flush(2, true), known);
}

// Policy `adaptive` is the more cautious the more the store's speed varies.
TEST_F(NodeStatePlacement, PoliciesAreToldHowMuchTheSpeedOfFlushesVaries) {
  open({2}, timed());
  for (const std::uint64_t version : {1, 2}) {
    ASSERT_TRUE(checkpoint(version));
    EXPECT_EQ(core->outlook.flushes().deviation_bytes_per_s, 0);
    const auto& held = core->find(id(version))->pieces.at(0).chunks[0];
    const FlushedChunk chunk{{0, 0}, {held.place, held.offset}, 4096, kChunk};
    auto started = core->flushes.chunk_begins(id(version), chunk).value();
    core->flush_meter().reads(chunk.slot.first, started, false);
    time_s += 1e-3 * static_cast<double>(version);
    core->flushes.chunk_ended(id(version), chunk, started, true, false);
  }
  EXPECT_GT(core->outlook.flushes().deviation_bytes_per_s, 0);
}

}  // namespace
}  // namespace perdure::engine
