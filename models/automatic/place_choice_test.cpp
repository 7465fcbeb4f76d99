// Tests where checkpoints are made: places are learnt from loops, and relied on only if time steps are alike.
#include "automatic/place_choice.hpp"

#include <gtest/gtest.h>

namespace perdure::automatic {
namespace {

using track::Access;
using track::Box;

Box row(std::int64_t begin, std::int64_t end) { return {1, {begin}, {end}}; }

/// Runs loops over fields of 100 elements, all of which were written before.
class Steps {
 public:
  explicit Steps(int fields, std::uint64_t learns, std::string before = "") : choice(learns, std::move(before)) {
    for (int i = 0; i < fields; ++i) {
      EXPECT_TRUE(tracker.declare({"field" + std::to_string(i), row(0, 100), 8, false}));
      written.emplace_back();
      written.back().add(row(0, 100));
    }
    tracker.initial_phase_done();
    for (track::SetId set = 0; set < tracker.sets().size(); ++set) call("fill", {Access::writes(set, row(0, 100))});
    choice.learn_anew();
  }
  void call(const std::string& name, const std::vector<Access>& accesses, bool between = true) {
    const auto id = track::loop_id(name, "");
    choice.loop(tracker, id, name, accesses, between, waiting);
    if (choice.is_place(name, between)) {
      ++places;
      waiting = false;
      last = name;
      foreseen = choice.foreseen(tracker, written) != nullptr;
    }
    (void)tracker.loop(id, accesses);
    ++loops;
  }
  track::Tracker tracker{true};
  PlaceChoice choice;
  std::vector<track::BoxSet> written;
  bool waiting = false, foreseen = false;
  int places = 0, loops = 0;
  std::string last;
};

void long_step(Steps& run) {
  run.call("begin", {Access::writes(0, row(0, 100))});
  for (int i = 1; i < 100; ++i)
    run.call("loop" + std::to_string(i), {Access::reads_writes(0, row(0, 100), row(0, 100))});
}

TEST(PlaceChoices, AreLearntLongerWhereTimeStepsAreLong) {
  Steps run(1, 64);
  for (int step = 0; step < 2; ++step) long_step(run);
  EXPECT_FALSE(run.foreseen);
  for (int step = 0; step < 4; ++step) long_step(run);
  EXPECT_TRUE(run.foreseen);
  EXPECT_EQ(run.last, "begin") << "where nothing is needed";
}

TEST(PlaceChoices, OfStepsThatAreNeverAlikeAreNotReliedOn) {
  Steps run(1, 32);
  for (int step = 0; step < 200; ++step) {
    run.call("begin", {Access::reads_writes(0, row(0, 100), row(0, 100))});
    for (int i = 0; i < step % 17 + step % 5; ++i) run.call("iterate", {Access::reads(0, row(0, 100))});
  }
  EXPECT_GT(run.places, 0);
  EXPECT_FALSE(run.foreseen);
}

// Two stages; only the second overwrites field 1.
TEST(PlaceChoices, TellTheStagesOfAStepApart) {
  Steps run(3, 64);
  for (int step = 0; step < 20; ++step) {
    run.call("begin", {Access::reads(0, row(0, 100)), Access::writes(1, row(0, 100))});
    for (int stage = 0; stage < 2; ++stage) {
      run.call("rate", {Access::reads(0, row(0, 100)), Access::writes(2, row(0, 100))});
      run.call("move", {Access::reads(2, row(0, 100)), Access::reads(1, row(0, 100)), Access::writes(0, row(0, 100))});
    }
  }
  EXPECT_EQ(run.last, "begin");
  EXPECT_TRUE(run.foreseen);
  // Before the first of these calls field 1 is needed, too.
  Steps restricted(3, 64, "rate");
  for (int step = 0; step < 40; ++step) {
    if (step == 20) restricted.places = 0;
    restricted.call("begin", {Access::reads(0, row(0, 100)), Access::writes(1, row(0, 100))});
    restricted.call("rate",
                    {Access::reads(0, row(0, 100)), Access::reads(1, row(0, 100)), Access::writes(2, row(0, 100))});
    restricted.call("rate", {Access::reads(0, row(0, 100)), Access::writes(2, row(0, 100))});
    restricted.call("move", {Access::reads(2, row(0, 100)), Access::writes(0, row(0, 100))});
  }
  EXPECT_EQ(restricted.places, 20) << "one of the two calls in a step";
  EXPECT_TRUE(restricted.foreseen);
}

TEST(PlaceChoices, ThatDoNotComeAgainAreLeftForOthers) {
  Steps run(1, 64);
  for (int step = 0; step < 40; ++step) {
    run.call("begin", {Access::writes(0, row(0, 100))});
    run.call("use", {Access::reads(0, row(0, 100))});
  }
  EXPECT_EQ(run.last, "begin");
  run.places = 0;
  for (int step = 0; step < 300; ++step) {
    run.waiting = true;
    run.call("other", {Access::writes(0, row(0, 100))});
    run.call("its use", {Access::reads(0, row(0, 100))});
    if (step == 4) {
      EXPECT_GT(run.places, 0) << "whoever waits does not wait until all is learnt anew";
    }
  }
  EXPECT_EQ(run.last, "other");
}

// With one loop of each name per step, a request waits two steps at most, from the first call on.
TEST(PlaceChoices, ServeWhoeverWaitsWithinTwoStepsLearntOrNot) {
  for (int length : {1, 2, 5, 20})
    for (int asked = 0; asked < 150; ++asked) {
      Steps run(1, 64);
      const auto step = [&](int loop) {
        run.call("loop" + std::to_string(loop % length), {Access::reads_writes(0, row(0, 100), row(0, 100))});
      };
      for (int loop = 0; loop < asked; ++loop) step(loop);
      run.places = 0;
      run.waiting = true;
      int waited = 0;
      for (int loop = asked; run.places == 0 && waited <= 2 * length; ++loop, ++waited) step(loop);
      ASSERT_GT(run.places, 0) << length << " loops in a step, asked at loop " << asked;
    }
}

// A solver repeats its iterations within a time step, as often as it takes. Once a stretch was learnt, iterations do
// not count as steps.
TEST(PlaceChoices, OfStepsWithIterationsAreNotAmongThese) {
  for (int asked = 0; asked < 30; ++asked) {
    Steps run(2, 64);
    int step = 0;
    const auto solve = [&](int& left) {
      run.call("solve", {Access::reads(0, row(0, 100)), Access::writes(1, row(0, 100))});
      for (int iteration = 0; iteration < 3 + step * 7 % 5; ++iteration) {
        if (left-- == 0) run.waiting = true, run.places = 0;
        run.call("multiply", {Access::reads(0, row(0, 100)), Access::reads_writes(1, row(0, 100), row(0, 100))});
        run.call("add", {Access::reads_writes(1, row(0, 100), row(0, 100))});
      }
      run.call("end", {Access::reads(1, row(0, 100)), Access::writes(0, row(0, 100))});
      ++step;
    };
    int left = 1000;
    while (run.loops < 90) solve(left);
    left = asked;
    while (left >= 0) solve(left);
    for (int more = 0; run.places == 0 && more < 3; ++more) solve(left);
    EXPECT_EQ(run.places, 1) << "asked at iteration " << asked;
    EXPECT_EQ(run.last, "solve") << "where one field is needed; asked at iteration " << asked;
  }
}

TEST(PlaceChoices, ServeWhoeverWaitsWhereNoLoopComesAgain) {
  Steps run(1, 2048);
  run.waiting = true;
  for (int loop = 0; run.places == 0 && loop < 100; ++loop)
    run.call("loop" + std::to_string(loop), {Access::reads_writes(0, row(0, 100), row(0, 100))});
  EXPECT_EQ(run.places, 1);
}

TEST(PlaceChoices, ThatComeSoonAreStillBeforeTheLoopsThatWereNamed) {
  Steps run(1, 2048, "second");
  run.waiting = true;
  for (int step = 0; step < 3 && run.places == 0; ++step) {
    run.call("first", {Access::reads_writes(0, row(0, 100), row(0, 100))});
    run.call("second", {Access::reads_writes(0, row(0, 100), row(0, 100))});
  }
  EXPECT_EQ(run.last, "second");
}

TEST(PlaceChoices, NeverLieBetweenALoopAndItsAnswer) {
  Steps run(1, 64);
  for (int step = 0; step < 100; ++step) {
    run.call("add", {Access::reads(0, row(0, 100))});
    run.call("begin", {Access::writes(0, row(0, 100))}, false);
  }
  EXPECT_EQ(run.last, "add");
}

}  // namespace
}  // namespace perdure::automatic
