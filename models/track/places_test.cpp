#include "track/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/seeds.hpp"
#include "track/random_program_testing.hpp"

namespace perdure::track {
namespace {

// Checks that the predicted boxes of a place equal those that a tracker saves there, in every region that completed.
// Returns at how many places.
std::uint64_t compare_everywhere(const RandomProgram& program) {
  std::uint64_t compared = 0;
  Places places;
  const auto whole = program.run({{}, {}, nullptr, {}, &places});
  for (std::uint64_t place = 0; place < whole.loops; ++place) {
    const auto tracked = program.run({{place}, {}, nullptr, {}});
    if (tracked.checkpoints.empty() || !tracked.checkpoints[0].whole) continue;
    const auto& from = tracked.checkpoints[0].place;
    const auto costs = places.costs(program.sets(), from.written);
    const auto foretold = places.saved_before(from.id, program.sets(), from.written);
    EXPECT_TRUE(costs[place] && foretold) << "place " << place;
    if (!costs[place] || !foretold) continue;
    EXPECT_EQ(costs[place]->bytes, 8 * tracked.checkpoints[0].saved.size()) << "place " << place;
    for (std::size_t set = 0; set < foretold->size(); ++set)
      for (const Box& box : from.saved[set].boxes()) EXPECT_TRUE((*foretold)[set].covers(box)) << "place " << place;
    ++compared;
  }
  return compared;
}

TEST(Places, ForetellWhatATrackerSaves) {
  const auto seeds = test_support::many_seeds(1, 200, 20);
  for (const bool two_blocks : {false, true}) {
    std::uint64_t compared = 0;
    for (std::uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed) {
      SCOPED_TRACE(seed);
      compared += compare_everywhere(RandomProgram(seed, {false, false, two_blocks}));
    }
    if (seeds.usual) {
      EXPECT_GT(compared, seeds.count() * 8);
    }
  }
}

Box row(std::int64_t begin, std::int64_t end) { return {1, {begin}, {end}}; }

class TimeSteps : public testing::Test {
 protected:
  // As in CloverLeaf: level 1 is computed from level 0, and becomes level 0 at the end of the step.
  void steps(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      call("flux", {Access::reads(0, row(0, 100)), Access::writes(2, row(0, 100))});
      call("advance", {Access::reads(0, row(0, 100)), Access::reads(2, row(0, 100)), Access::writes(1, row(0, 100))});
      call("smooth", {Access::reads_writes(1, row(0, 100), row(0, 100)), Access::reads(2, row(0, 100))});
      call("reset", {Access::reads(1, row(0, 100)), Access::writes(0, row(0, 100))});
    }
  }
  void call(std::string_view name, const std::vector<Access>& accesses) {
    places.record(loop_id(name, ""), accesses);
    for (const Access& access : accesses)
      if (access.does_write()) written[access.set].add(access.written);
  }
  std::vector<DataSet> sets{{"u0", row(0, 100), 8, false}, {"u1", row(0, 100), 8, false}, {"f", row(0, 100), 8, false}};
  std::vector<BoxSet> written{3};
  Places places;
};

TEST_F(TimeSteps, HaveTheirCheapestPlaceWhereOneFieldIsLive) {
  steps(6);
  const auto all = places.candidates(places.costs(sets, written));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].most.bytes, 800U) << "before flux u0 is live";
  EXPECT_EQ(all[1].most.bytes, 1600U);
  EXPECT_EQ(all[2].most.bytes, 1600U);
  EXPECT_EQ(all[3].most.bytes, 800U) << "before reset u1 is";
  EXPECT_EQ(cheapest(all, places.size())->place, loop_id("flux", ""));
  EXPECT_EQ(all[0].gap, 4U);
  const auto saved = places.saved_before(loop_id("advance", ""), sets, written);
  ASSERT_TRUE(saved);
  EXPECT_EQ((*saved)[0].elements(), 100U);
  EXPECT_EQ((*saved)[1].elements(), 0U);
  EXPECT_EQ((*saved)[2].elements(), 100U);
  EXPECT_FALSE(places.saved_before(loop_id("another", ""), sets, written));
}

TEST_F(TimeSteps, OfWhatNoLoopTouchesAgainEveryPlacePays) {
  written[2].add(row(100, 150));  // written by an earlier loop
  sets[2].box = row(0, 150);
  steps(6);
  EXPECT_EQ(places.candidates(places.costs(sets, written))[0].most.bytes, 800U + 400U);
  sets[2].scratch = true;
  EXPECT_EQ(places.candidates(places.costs(sets, written))[0].most.bytes, 800U);
}

TEST_F(TimeSteps, WhoseScratchIsNeededBehindALoopHaveNoPlaceThere) {
  sets[2].scratch = true;
  steps(6);
  const auto all = places.candidates(places.costs(sets, written));
  EXPECT_EQ(all[1].most, kNoPlace) << "advance reads what flux wrote";
  EXPECT_EQ(all[2].most, kNoPlace);
  EXPECT_EQ(cheapest(all, places.size())->place, loop_id("flux", ""));
  EXPECT_EQ(cheapest(std::span(all).subspan(1, 2), places.size()), std::nullopt);
}

TEST_F(TimeSteps, ThatComeOnceAreNoPlaces) {
  call("once", {Access::writes(0, row(0, 100)), Access::writes(1, row(0, 100)), Access::writes(2, row(0, 100))});
  steps(5);
  const auto all = places.candidates(places.costs(sets, written));
  EXPECT_EQ(all[0].most.bytes, 0U);
  EXPECT_EQ(cheapest(all, places.size())->place, loop_id("flux", ""));
  EXPECT_EQ(cheapest(all, 3), std::nullopt);
}

// A step of three stages; only the first needs what the previous step left in `extra`.
TEST_F(TimeSteps, HaveAPlaceForEachCallOfALoop) {
  for (int step = 0; step < 6; ++step) {
    call("begin", {Access::reads(0, row(0, 100)), Access::writes(2, row(0, 100))});
    for (int stage = 0; stage < 3; ++stage) {
      call("flux", {Access::reads(0, row(0, 100)), Access::reads(2, row(0, 100)), Access::writes(1, row(0, 100))});
      call("advance", {Access::reads(1, row(0, 100)), Access::writes(0, row(0, 100))});
    }
  }
  EXPECT_EQ(places.firsts(), (std::vector{loop_id("flux", ""), loop_id("begin", "")}));
  const auto costs = places.costs(sets, written);
  const LoopId flux = loop_id("flux", "");
  const auto of = [&](LoopId place) {
    const auto all = places.candidates(costs);
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.place == place; });
    return found == all.end() ? Candidate() : *found;
  };
  const Candidate any = of(flux);
  CallsInStep calls(loop_id("begin", ""));
  places.tell_apart(calls);
  EXPECT_EQ(any.times, of(places.place(1)).times + of(places.place(3)).times + of(places.place(5)).times);
  EXPECT_EQ(places.place(1), flux) << "the first call in a step";
  EXPECT_NE(places.place(3), places.place(5));
  EXPECT_EQ(places.place(3), places.place(10)) << "in every step the same";
  EXPECT_EQ(of(places.place(6)).most.bytes, 800U) << "before the last advance u1 alone is live";
  EXPECT_EQ(of(places.place(2)).most.bytes, 1600U);
  EXPECT_EQ(calls.place(loop_id("begin", "")), places.place(0)) << "it goes on behind the stretch";
  EXPECT_EQ(calls.place(flux), places.place(1));
  EXPECT_EQ(places.repeats(), 21U);
  EXPECT_EQ(places.period(), 7U);
}

TEST_F(TimeSteps, HaveNoPlaceBeforeTheFirstOfThemBegins) {
  call("advance", {Access::reads(1, row(0, 100)), Access::writes(0, row(0, 100))});
  steps(4);
  CallsInStep calls(loop_id("flux", ""));
  places.tell_apart(calls);
  EXPECT_EQ(places.place(0), CallsInStep::kNowhere);
  for (const auto& one : places.candidates(places.costs(sets, written))) EXPECT_NE(one.place, CallsInStep::kNowhere);
}

TEST_F(TimeSteps, OfManyIterationsHaveOnePlaceForTheLastOnes) {
  CallsInStep calls(loop_id("begin", ""));
  EXPECT_EQ(calls.place(7), CallsInStep::kNowhere);
  (void)calls.place(loop_id("begin", ""));
  std::set<LoopId> all;
  for (int i = 0; i < 1000; ++i) all.insert(calls.place(7));
  EXPECT_EQ(all.size(), 65U);
}

TEST_F(TimeSteps, RepeatTheMostThatTheStretchHasTwice) {
  EXPECT_EQ(places.repeats(), 0U);
  call("once", {});
  steps(5);
  EXPECT_EQ(places.repeats(), 8U) << "two steps, and two before them";
  EXPECT_EQ(places.period(), 4U) << "one";
  call("other", {});
  EXPECT_EQ(places.repeats(), 0U);
  call("other", {});
  EXPECT_EQ(places.repeats(), 1U);
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    places.clear();
    std::vector<LoopId> ids(1 + random() % 40);
    for (LoopId& id : ids) places.record(id = random() % (1 + random() % 3), {});
    std::size_t expected = 0;
    for (std::size_t p = 1; 2 * p <= ids.size(); ++p)
      if (std::equal(ids.end() - static_cast<std::ptrdiff_t>(p), ids.end(),
                     ids.end() - 2 * static_cast<std::ptrdiff_t>(p)))
        expected = p;
    ASSERT_EQ(places.repeats(), expected) << round;
    const auto begin = ids.end() - 2 * static_cast<std::ptrdiff_t>(expected);
    std::size_t period = 0;
    for (std::size_t p = expected; p > 0; --p)
      if (std::equal(begin + static_cast<std::ptrdiff_t>(p), ids.end(), begin)) period = p;
    ASSERT_EQ(places.period(), period) << round;
  }
}

TEST_F(TimeSteps, AreRecordedUpToALimit) {
  places = Places(8);
  steps(4);
  EXPECT_TRUE(places.full());
  EXPECT_EQ(places.size(), 8U);
  places.clear();
  EXPECT_EQ(places.size(), 0U);
}

}  // namespace
}  // namespace perdure::track
