#include "track/loop_sequence.hpp"

#include <gtest/gtest.h>

#include <random>

namespace perdure::track {
namespace {

void expect_same(const LoopSequence& sequence, const std::vector<LoopId>& loops) {
  ASSERT_EQ(sequence.size(), loops.size());
  for (std::size_t i = 0; i < loops.size(); ++i) ASSERT_EQ(sequence[i], loops[i]) << i;
}

TEST(LoopSequence, HasEveryLoopInItsPlaceAndGoesOnWhereItWasRead) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 150; ++round) {
    std::vector<LoopId> loops;
    LoopSequence sequence;
    const std::size_t period = 1 + random() % 12, kinds = 1 + random() % 9;
    std::vector<LoopId> step(period);
    for (auto& loop : step) loop = 1000 + random() % kinds;
    for (std::size_t i = 0; i < random() % 600; ++i)
      loops.push_back(random() % 40 == 0 ? 1000 + random() % kinds : step[i % period]);
    const std::size_t half = loops.size() / 2;
    for (std::size_t i = 0; i < half; ++i) sequence.append(loops[i]);
    ASSERT_TRUE(is_sequence(sequence.stretches(), half));
    LoopReplay replay(sequence.stretches());
    LoopSequence again;
    for (std::size_t i = 0; i < half; ++i, replay.advance()) {
      ASSERT_EQ(replay.next(again), loops[i]);
      again.append(loops[i]);
    }
    for (std::size_t i = half; i < loops.size(); ++i) sequence.append(loops[i]), again.append(loops[i]);
    expect_same(sequence, loops);
    expect_same(again, loops);
    EXPECT_EQ(again.stretches().size(), sequence.stretches().size());
  }
}

TEST(LoopSequence, KeepsAMillionLoopsInAsMuchRoomAsOneTimeStep) {
  LoopSequence sequence;
  for (std::uint64_t step = 0; step < 20'000; ++step)
    for (LoopId loop = 0; loop < 50; ++loop) sequence.append(loop);
  EXPECT_EQ(sequence.size(), 1'000'000U);
  EXPECT_EQ(sequence.stretches().size(), 51U);
  EXPECT_EQ(sequence[999'999], 49U);
}

TEST(LoopSequence, OfASolverThatNeedsAnyNumberOfIterationsGrowsByStretchesNotByLoops) {
  std::mt19937_64 random(2);
  LoopSequence sequence;
  std::vector<LoopId> loops;
  const auto call = [&](LoopId loop) { sequence.append(loop), loops.push_back(loop); };
  for (int step = 0; step < 40; ++step) {
    for (LoopId loop = 0; loop < 6; ++loop) call(loop);
    for (std::uint64_t i = 0; i < 100 + random() % 50; ++i)
      for (LoopId loop = 10; loop < 13; ++loop) call(loop);
    call(20);
  }
  EXPECT_LT(sequence.stretches().size(), 200U) << loops.size() << " loops";
  expect_same(sequence, loops);
}

TEST(LoopSequence, OfStepsOfAnyLengthIsGoneThroughInConstantTimeForEachLoop) {
  std::mt19937_64 random(3);
  LoopSequence sequence;
  std::vector<LoopId> loops;
  for (int step = 0; step < 3000; ++step) {
    for (std::uint64_t i = 0; i < 20 + random() % 20; ++i)
      for (const LoopId loop : {1, 2, 3}) loops.push_back(loop);
    loops.push_back(9);
  }
  for (const LoopId loop : loops) sequence.append(loop);
  ASSERT_TRUE(is_sequence(sequence.stretches(), loops.size()));
  LoopReplay replay(sequence.stretches());
  LoopSequence again;
  for (const LoopId loop : loops) {  // with a look-up from the beginning each time, this loop would take far too long
    ASSERT_EQ(replay.next(again), loop);
    again.append(loop);
    replay.advance();
  }
}

TEST(LoopSequence, RefusesStretchesOfNoSequence) {
  using Stretches = std::vector<LoopSequence::Stretch>;
  EXPECT_TRUE(is_sequence({}, 0));
  EXPECT_FALSE(is_sequence({}, 1)) << "fewer than there are";
  EXPECT_FALSE(is_sequence(Stretches{{0, 0, 1}}, 0)) << "more loops than there may be";
  EXPECT_FALSE(is_sequence(Stretches{{1, 5, 0}}, 5)) << "as before the beginning";
  EXPECT_FALSE(is_sequence(Stretches{{0, 0, 1}, {0, 5, 0}}, 6)) << "as itself";
  EXPECT_FALSE(is_sequence(Stretches{{0, 0, 1}, {1, UINT64_MAX, 0}}, 0));
  EXPECT_TRUE(is_sequence(Stretches{{0, 0, 1}, {1, 9, 0}}, 10));
}

}  // namespace
}  // namespace perdure::track
