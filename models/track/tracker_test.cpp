#include "track/tracker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "support/seeds.hpp"
#include "track/random_program_testing.hpp"

namespace perdure::track {
namespace {

using Plan = RandomProgram::Plan;
using Shape = RandomProgram::Shape;

test_support::ManySeeds seeds(std::uint64_t all) { return test_support::many_seeds(1, all, all / 10); }

template <class Body>
void each_seed(std::uint64_t daily, const Body& body) {
  const auto all = seeds(daily);
  for (std::uint64_t seed = all.begin; seed < all.end && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    body(seed);
  }
}

/// Whether `all` ends with the elements of `some` from `first` on.
bool ends_with(const std::vector<std::uint64_t>& all, const std::vector<std::uint64_t>& some, std::size_t first) {
  const std::size_t count = some.size() - first;
  return count <= all.size() && std::equal(some.end() - static_cast<std::ptrdiff_t>(count), some.end(),
                                           all.end() - static_cast<std::ptrdiff_t>(count));
}

/// Checks that the restored `run` continued as `whole` did: all inputs of its loops and all answers are the same.
void expect_end_of(const RandomProgram::Run& run, const RandomProgram::Run& whole) {
  EXPECT_TRUE(ends_with(whole.read, run.read, run.reads_before));
  EXPECT_TRUE(ends_with(whole.answers, run.answers, run.answers_before));
  EXPECT_LT(run.reads_before, run.read.size());
}

// The oracle: a restart with garbage in all unsaved elements does what the undisturbed run did.
void restore_everywhere(std::uint64_t seed, Shape shape) {
  const RandomProgram program(seed, shape);
  const auto whole = program.run({});
  for (std::uint64_t place = 0; place < whole.loops; ++place)
    for (const auto& end_after : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(seed % 4)}) {
      const auto tracked = program.run({{place}, end_after, nullptr, {}});
      ASSERT_EQ(tracked.read, whole.read);
      if (tracked.checkpoints.empty() || !tracked.checkpoints[0].whole) continue;  // the program ended first
      const auto again = program.run({{}, {}, &tracked.checkpoints[0], {}});
      expect_end_of(again, whole);
    }
}

TEST(Tracker, RestoresFromEveryPlaceOfRandomPrograms) {
  each_seed(200, [](std::uint64_t seed) { restore_everywhere(seed, {}); });
}

TEST(Tracker, RestoresFromEveryPlaceBehindAnInitialPhase) {
  each_seed(100, [](std::uint64_t seed) { restore_everywhere(seed, {true}); });
}

TEST(Tracker, RestoresFromEveryPlaceByWayOfAPayload) {
  each_seed(100, [](std::uint64_t seed) { restore_everywhere(seed, {seed % 2 == 0, true}); });
}

TEST(Tracker, RestoresFromEveryPlaceOfTwoBlocksWithTimeStepsOfTheirOwn) {
  each_seed(100, [](std::uint64_t seed) { restore_everywhere(seed, {seed % 3 == 0, seed % 5 == 0, true}); });
}

// Otherwise the test above would only see programs whose steps all have the same loops.
TEST(RandomPrograms, OfTwoBlocksHaveAnyNumbersOfSubSteps) {
  std::set<std::uint64_t> numbers;
  std::uint64_t changing = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto steps = RandomProgram(seed, {false, false, true}).run({}).sub_steps;
    numbers.insert(steps.begin(), steps.end());
    changing += steps.size() > 1 && steps[0] != steps[1] ? 1 : 0;
  }
  EXPECT_EQ(numbers, (std::set<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_GT(changing, 20U);
}

/// Checks that each saved element of a completed region is needed: without it the run takes another course. Returns how
/// many elements were saved.
std::uint64_t expect_only_what_is_needed(std::uint64_t seed, Shape shape) {
  std::uint64_t elements = 0;
  const RandomProgram program(seed, shape);
  const auto whole = program.run({});
  for (std::uint64_t place = 0; place < whole.loops; place += 1 + seed % 3) {
    const auto tracked = program.run({{place}, {}, nullptr, {}});
    if (tracked.checkpoints.empty() || !tracked.checkpoints[0].whole) continue;
    const auto& checkpoint = tracked.checkpoints[0];
    const auto good = program.run({{}, {}, &checkpoint, {}});
    for (const auto& [where, value] : checkpoint.saved) {
      // On another course the run may need unsaved elements; the tracker then refuses.
      std::optional<RandomProgram::Run> spoilt;
      try {
        spoilt = program.run({{}, {}, &checkpoint, where});
      } catch (const std::runtime_error&) {
      }
      EXPECT_TRUE(!spoilt || spoilt->read != good.read) << "set " << where.first << " at place " << place;
      ++elements;
    }
  }
  return elements;
}

TEST(Tracker, SavesNothingThatIsNotNeeded) {
  for (const bool two_blocks : {false, true}) {
    std::uint64_t elements = 0;
    each_seed(80, [&](std::uint64_t seed) {
      elements += expect_only_what_is_needed(seed, {false, false, two_blocks});
    });
    if (seeds(80).usual) {
      EXPECT_GT(elements, seeds(80).count() * 8);
    }
  }
}

TEST(Tracker, RestoresTheSecondCheckpointOfARunThatWasRestored) {
  for (const bool two_blocks : {false, true})
    each_seed(200, [&](std::uint64_t seed) {
      const RandomProgram program(seed, {false, seed % 3 == 0, two_blocks});
      const auto whole = program.run({});
      const std::uint64_t first = seed % (whole.loops + 1), second = first + 3;
      const auto tracked = program.run({{first}, 0, nullptr, {}});
      if (tracked.checkpoints.empty() || !tracked.checkpoints[0].whole) return;
      const auto again = program.run({{second}, 0, &tracked.checkpoints[0], {}});
      if (again.checkpoints.empty() || !again.checkpoints[0].whole) return;
      expect_end_of(program.run({{}, {}, &again.checkpoints[0], {}}), whole);
    });
}

Box line(std::int64_t begin, std::int64_t end) { return {1, {begin}, {end}}; }

class TrackedLine : public testing::Test {
 protected:
  Decision loop(std::string_view name, std::vector<Access> accesses) {
    return tracker.loop(loop_id(name, ""), accesses);
  }
  Tracker tracker;
  SetId a = *tracker.declare({"a", line(-2, 10), 8, false}), b = *tracker.declare({"b", line(0, 10), 8, false});
};

TEST_F(TrackedLine, SavesOfAPartialWriteExactlyWhatLiesOutside) {
  loop("fill", {Access::writes(a, line(-2, 10))});
  tracker.begin_checkpoint();
  auto decision = loop("inner", {Access::writes(a, line(0, 9))});
  EXPECT_TRUE(decision.opens && decision.run && !decision.closes && decision.save.empty());
  decision = loop("use", {Access::reads(a, line(-2, 10))});
  EXPECT_EQ(decision.save, (std::vector<Piece>{{a, line(-2, 0)}, {a, line(9, 10)}}));
  EXPECT_TRUE(decision.closes);
}

TEST_F(TrackedLine, NeverSavesWhatNoLoopHasWritten) {
  tracker.begin_checkpoint();
  const auto decision = loop("use", {Access::reads(a, line(0, 5)), Access::writes(b, line(0, 5))});
  EXPECT_TRUE(decision.opens && decision.closes && decision.save.empty());
}

TEST_F(TrackedLine, WaitsForTheLoopThatWasChosen) {
  loop("one", {Access::writes(a, line(0, 5))});
  tracker.begin_checkpoint(loop_id("two", ""));
  EXPECT_FALSE(loop("one", {Access::writes(a, line(0, 5))}).opens);
  EXPECT_TRUE(tracker.wants_checkpoint());
  EXPECT_TRUE(loop("two", {Access::reads(a, line(0, 5))}).opens);
  EXPECT_FALSE(tracker.wants_checkpoint());
}

TEST_F(TrackedLine, SavesNoScratchAndGivesUpAPlaceThatNeedsIt) {
  const SetId c = *tracker.declare({"c", line(0, 4), 8, true});
  loop("fill", {Access::writes(c, line(0, 4)), Access::writes(a, line(0, 4)), Access::writes(b, line(0, 4))});
  tracker.begin_checkpoint();
  auto decision = loop("anew", {Access::reads(a, line(0, 4)), Access::writes(c, line(0, 4))});
  EXPECT_EQ(decision.save.size(), 1U);
  EXPECT_FALSE(decision.closes) << "b is undecided";
  decision = loop("use", {Access::reads(c, line(0, 4)), Access::reads(b, line(0, 4))});
  EXPECT_TRUE(decision.closes && decision.spoils.empty());
  EXPECT_EQ(decision.save, (std::vector<Piece>{{b, line(0, 4)}}));
  tracker.begin_checkpoint();
  decision = loop("use", {Access::reads(b, line(0, 4)), Access::reads(c, line(1, 3))});
  EXPECT_TRUE(decision.opens && decision.run && !decision.closes && decision.save.empty());
  EXPECT_NE(decision.spoils.find("'c' is scratch, and loop 3 reads [1:3] of it"), std::string::npos) << decision.spoils;
  EXPECT_EQ(tracker.phase(), Tracker::Phase::running);
}

TEST_F(TrackedLine, EndsARegionThatHasNotBegunWithItsFirstLoop) {
  loop("fill", {Access::writes(a, line(0, 4))});
  tracker.begin_checkpoint();
  tracker.end_region();
  const auto decision = loop("other", {Access::writes(b, line(0, 4))});
  EXPECT_TRUE(decision.opens && decision.closes);
  EXPECT_EQ(decision.save, (std::vector<Piece>{{a, line(0, 4)}}));
}

TEST_F(TrackedLine, RefusesWhatIsInNoDataSet) {
  Tracker none;
  EXPECT_NE(none.loop(1, std::vector{Access::reads(0, line(0, 1))}).refused.find("number 0, which nobody"),
            std::string::npos);
  EXPECT_NE(
      loop("far", {Access::writes(b, line(5, 11))}).refused.find("writes [5:11] of data set 'b', which is [0:10]"),
      std::string::npos);
  EXPECT_EQ(tracker.phase(), Tracker::Phase::refused);
}

TEST_F(TrackedLine, TakesNoDataSetThatCannotBe) {
  const auto refusal = [&](DataSet set) {
    const auto taken = tracker.declare(std::move(set));
    return taken ? std::string() : taken.error();
  };
  EXPECT_EQ(refusal({"", line(0, 1), 8, false}), "a data set has no name");
  EXPECT_EQ(refusal({"a", line(0, 1), 8, false}), "there are two data sets 'a'");
  EXPECT_NE(refusal({"c", line(0, 1), 0, false}), "");
  EXPECT_NE(refusal({"c", line(2, 1), 8, false}).find("ends before it begins"), std::string::npos);
  EXPECT_NE(refusal({"c", line(INT64_MIN, INT64_MAX), 1, false}).find("2^63 bytes"), std::string::npos);
  EXPECT_NE(refusal({"c", {2, {0, 0}, {std::int64_t{1} << 31, std::int64_t{1} << 31}}, 8, false}), "");
  EXPECT_EQ(refusal({"c", {2, {0, 0}, {std::int64_t{1} << 31, std::int64_t{1} << 28}}, 8, false}), "");
  EXPECT_EQ(refusal({"d", {2, {0, 0}, {0, INT64_MAX}}, 8, false}), "");
}

/// Has a tracker in each phase; loops had written its data sets a and b while recording.
class PhasesOfATracker : public testing::Test {
 protected:
  using Phase = Tracker::Phase;
  static constexpr Phase kAll[] = {Phase::initial, Phase::running, Phase::region,
                                   Phase::again,   Phase::replay,  Phase::refused};
  static void loop(Tracker& tracker, std::string_view name) {
    std::vector<Access> accesses{Access::writes(0, line(0, 4))};
    if (name == "both") accesses.push_back(Access::writes(1, line(0, 4)));
    (void)tracker.loop(loop_id(name, ""), accesses);
  }
  static Tracker fresh(bool initial_phase) {
    Tracker tracker(initial_phase);
    EXPECT_TRUE(tracker.declare({"a", line(0, 4), 8, false}) && tracker.declare({"b", line(0, 4), 8, false}));
    return tracker;
  }
  static bool answer(Tracker& tracker) {
    std::uint64_t value = 7;
    return tracker.answer(std::as_writable_bytes(std::span(&value, 1)));
  }
  static Place place() {
    Tracker tracker = in(Phase::running);
    (void)answer(tracker);
    tracker.begin_checkpoint();
    loop(tracker, "one");
    return tracker.place();
  }
  static Tracker in(Phase phase) {
    Tracker tracker = fresh(phase == Phase::initial || phase == Phase::again);
    if (phase == Phase::initial) return tracker;
    if (phase == Phase::running || phase == Phase::region) {
      loop(tracker, "both");
      if (phase == Phase::region) tracker.begin_checkpoint(), loop(tracker, "one");
      return tracker;
    }
    tracker.resume(place());
    if (phase == Phase::refused) loop(tracker, "other");
    return tracker;
  }
  /// Checks the phase that follows each phase of kAll.
  static void expect(const char* event, const std::vector<Phase>& then, const std::function<void(Tracker&)>& happens) {
    for (std::size_t i = 0; i < std::size(kAll); ++i) {
      Tracker tracker = in(kAll[i]);
      ASSERT_EQ(tracker.phase(), kAll[i]);
      happens(tracker);
      EXPECT_EQ(tracker.phase(), then[i]) << event << " in phase " << i;
    }
  }
};

TEST_F(PhasesOfATracker, FollowEachOtherAsTheTableSays) {
  const auto initial = Phase::initial, running = Phase::running, region = Phase::region, again = Phase::again,
             replay = Phase::replay, refused = Phase::refused;
  // In order: initial, running, region, again, replay, refused.
  expect("a loop that decides all, and is the place's first", {initial, running, running, again, replay, refused},
         [](Tracker& tracker) { loop(tracker, "both"); });
  expect("another loop", {initial, running, region, again, refused, refused},
         [](Tracker& tracker) { loop(tracker, "one"); });
  expect("the loops up to the place, and it", {initial, running, running, again, running, refused},
         [](Tracker& tracker) { loop(tracker, "both"), (void)answer(tracker), loop(tracker, "one"); });
  expect("a checkpoint, and a loop that leaves something", {initial, region, region, again, refused, refused},
         [](Tracker& tracker) { tracker.begin_checkpoint(), loop(tracker, "one"); });
  expect("a checkpoint, and one that decides all", {initial, running, running, again, replay, refused},
         [](Tracker& tracker) { tracker.begin_checkpoint(), loop(tracker, "both"); });
  expect("the end of a region, and a loop that leaves something", {initial, running, running, again, refused, refused},
         [](Tracker& tracker) { tracker.end_region(), loop(tracker, "one"); });
  expect("the end of the initial phase", {running, running, region, replay, replay, refused},
         [](Tracker& tracker) { tracker.initial_phase_done(); });
  expect("an answer", {initial, running, region, again, replay, refused},
         [](Tracker& tracker) { (void)answer(tracker); });
  expect("two answers", {initial, running, region, again, refused, refused},
         [](Tracker& tracker) { (void)answer(tracker), (void)answer(tracker); });
  expect("a payload", {initial, running, region, again, refused, refused},
         [](Tracker& tracker) { (void)tracker.fast_forward({}); });
  expect("a checkpoint to go on from", {again, refused, refused, refused, refused, refused},
         [](Tracker& tracker) { tracker.resume(place()); });
}

class ChangedProgram : public TrackedLine {
 protected:
  Place checkpoint() {
    loop("fill", {Access::writes(a, line(0, 4))});
    std::uint64_t answer = 7;
    EXPECT_TRUE(tracker.answer(std::as_writable_bytes(std::span(&answer, 1))));
    tracker.begin_checkpoint();
    EXPECT_TRUE(loop("use", {Access::reads(a, line(0, 4))}).closes);
    return tracker.place();
  }
  /// Returns the complaint about a run that calls these loops and asks for the answer after the first one.
  std::string said(Place place, const std::vector<std::string>& loops, bool asks = true,
                   const std::vector<DataSet>& sets = {{"a", line(-2, 10), 8, false}, {"b", line(0, 10), 8, false}}) {
    Tracker again;
    for (const auto& set : sets) EXPECT_TRUE(again.declare(set));
    again.resume(std::move(place));
    std::string text;
    for (const auto& name : loops) {
      text = again.loop(loop_id(name, ""), {}).refused;
      std::uint64_t answer = 0;
      const bool told = asks && name == loops.front() && again.answer(std::as_writable_bytes(std::span(&answer, 1)));
      EXPECT_EQ(answer, told ? 7U : 0U);
    }
    EXPECT_EQ(text.empty(), again.phase() != Tracker::Phase::refused);
    return text;
  }
};

TEST_F(ChangedProgram, IsRefusedWithTheFirstDifference) {
  const Place place = checkpoint();
  EXPECT_EQ(said(place, {"fill", "use"}), "");
  EXPECT_NE(said(place, {"other", "use"}).find("loop 0 of 1"), std::string::npos);
  EXPECT_NE(said(place, {"fill", "other"}).find("number 1"), std::string::npos);
  EXPECT_NE(said(place, {"fill", "use"}, false).find("of 1 answers"), std::string::npos);
  const DataSet whole{"a", line(-2, 10), 8, false}, other{"b", line(0, 10), 8, false};
  EXPECT_NE(said(place, {"fill", "use"}, true, {whole}).find("'b' of the checkpoint is not declared"),
            std::string::npos);
  EXPECT_NE(said(place, {"fill", "use"}, true, {whole, {"b", line(0, 11), 8, false}}).find("[0:11], and [0:10]"),
            std::string::npos);
  EXPECT_NE(said(place, {"fill", "use"}, true, {other, whole}).find("data set 0 is 'b'"), std::string::npos);
  EXPECT_NE(said(place, {"fill", "use"}, true, {whole, {"b", line(0, 10), 4, false}}).find("other elements"),
            std::string::npos);
  EXPECT_NE(
      said(place, {"fill", "use"}, true, {whole, other, {"c", line(0, 1), 8, false}}).find("not in the checkpoint"),
      std::string::npos);
}

TEST_F(ChangedProgram, WithAnswersOfAnotherLengthIsRefused) {
  const Place place = checkpoint();
  Tracker again;
  ASSERT_TRUE(again.declare({"a", line(-2, 10), 8, false}));
  ASSERT_TRUE(again.declare({"b", line(0, 10), 8, false}));
  again.resume(place);
  again.loop(loop_id("fill", ""), {});
  std::uint32_t answer = 0;
  EXPECT_FALSE(again.answer(std::as_writable_bytes(std::span(&answer, 1))));
  EXPECT_NE(again.loop(loop_id("use", ""), {}).refused.find("answer 0 before loop 1"), std::string::npos);
}

TEST_F(ChangedProgram, WhosePlaceIsHostileIsRefused) {
  Place place = checkpoint();
  place.loop = 5;
  EXPECT_NE(said(place, {"fill", "use"}), "");
  place = checkpoint();
  place.before = {{3, 9, 0}};
  EXPECT_NE(said(place, {"fill", "use"}), "");
  place = checkpoint();
  place.written.pop_back();
  EXPECT_NE(said(place, {"fill", "use"}).find("of each data set"), std::string::npos);
  place = checkpoint();
  place.saved.pop_back();
  EXPECT_NE(said(place, {"fill", "use"}).find("of each data set"), std::string::npos);
}

// A checkpoint of a run that was killed before its region closed, or one that saved a foreseen list.
class LackingCheckpoint : public TrackedLine {
 protected:
  /// Loops wrote elements 0 to 7 of a; 0 to 3 are saved.
  Place checkpoint() {
    loop("fill", {Access::writes(a, line(0, 8))});
    tracker.begin_checkpoint();
    loop("use", {Access::reads(a, line(0, 4))});
    return tracker.place();
  }
};

TEST_F(LackingCheckpoint, IsRefusedWhereWhatItLacksIsRead) {
  tracker = [&] {
    const Place place = checkpoint();
    Tracker again;
    EXPECT_TRUE(again.declare({"a", line(-2, 10), 8, false}) && again.declare({"b", line(0, 10), 8, false}));
    again.resume(place);
    return again;
  }();
  loop("fill", {Access::writes(a, line(0, 8))});
  EXPECT_TRUE(loop("use", {Access::reads(a, line(0, 4))}).restore);
  EXPECT_EQ(loop("never written", {Access::reads(a, line(-2, 0))}).refused, "");
  EXPECT_EQ(loop("write", {Access::writes(a, line(4, 6))}).refused, "");
  EXPECT_EQ(loop("read", {Access::reads(a, line(2, 6))}).refused, "") << "it has been written since";
  tracker.begin_checkpoint();
  EXPECT_TRUE(loop("next", {}).opens);
  tracker.end_region();
  const auto last = loop("end", {});
  EXPECT_EQ(last.save, (std::vector<Piece>{{a, line(0, 6)}})) << "what is not there cannot be saved";
  EXPECT_TRUE(last.closes);
  const auto refused = loop("read", {Access::reads(a, line(5, 7))});
  EXPECT_NE(refused.refused.find("reads [5:7] of data set 'a'"), std::string::npos);
  EXPECT_TRUE(refused.lacks);
  EXPECT_EQ(tracker.phase(), Tracker::Phase::refused);
}

TEST_F(LackingCheckpoint, LacksTheSameInTheCheckpointsThatFollow) {
  Place place = checkpoint();
  for (int life = 0; life < 2; ++life) {
    Tracker again;
    ASSERT_TRUE(again.declare({"a", line(-2, 10), 8, false}) && again.declare({"b", line(0, 10), 8, false}));
    again.resume(place);
    tracker = again;
    loop("fill", {Access::writes(a, line(0, 8))});
    if (life == 1) loop("use", {Access::reads(a, line(0, 4))});
    tracker.begin_checkpoint();
    EXPECT_TRUE(loop(life == 0 ? "use" : "next", {Access::reads(a, line(0, 4))}).opens);
    tracker.end_region();
    loop("end", {});
    place = tracker.place();
  }
  EXPECT_NE(loop("read", {Access::reads(a, line(7, 8))}).refused, "");
}

}  // namespace
}  // namespace perdure::track
