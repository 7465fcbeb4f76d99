#include "automatic/loop_history.hpp"

#include <gtest/gtest.h>

namespace perdure::automatic {
namespace {

LoopHistory of(std::initializer_list<const char*> loops) {
  LoopHistory made;
  for (const char* name : loops) made.loop(track::loop_id(name, ""), name);
  return made;
}

TEST(LoopHistories, AreTheSameAfterTheSameLoopsInTheSameOrder) {
  EXPECT_EQ(of({"a", "b"}).mark(), of({"a", "b"}).mark());
  EXPECT_NE(of({"a", "b"}).mark(), of({"b", "a"}).mark());
  EXPECT_NE(of({"a", "b"}).mark(), of({"a", "b", "b"}).mark());
  EXPECT_NE(of({"a"}).mark(), of({}).mark());
}

TEST(LoopHistories, DifferFromTheFirstLoopThatDiffersOn) {
  const LoopHistory one = of({"a", "b", "c", "d"}), other = of({"a", "b", "x", "c", "d"});
  for (std::size_t loops = 1; loops < LoopHistory::kMost; ++loops)
    EXPECT_EQ(one.mark_after(loops) == other.mark_after(loops), loops <= 2) << loops;
  EXPECT_EQ(one.behind(2), "'c' (number 3)");
  EXPECT_EQ(other.behind(2), "'x' (number 3)");
  EXPECT_EQ(one.behind(4), "");
  EXPECT_EQ(one.last(), "'d' (number 4)");
  EXPECT_EQ(LoopHistory().last(), "");
}

TEST(LoopHistories, CountOnWhereRanksAgreed) {
  LoopHistory history = of({"a", "b"});
  history.agreed();
  EXPECT_EQ(history.behind(0), "");
  history.loop(track::loop_id("c", ""), "c");
  EXPECT_EQ(history.behind(0), "'c' (number 3)");
  EXPECT_EQ(history.mark_after(1), of({"a", "b", "c"}).mark());
}

// The history only knows that later loops differ.
TEST(LoopHistories, KnowTheFirstOfManyLoops) {
  LoopHistory history;
  for (std::size_t i = 0; i < LoopHistory::kMost + 5; ++i) history.loop(i, "loop");
  EXPECT_EQ(history.behind(LoopHistory::kMost), "");
  EXPECT_NE(history.mark(), history.mark_after(LoopHistory::kMost));
  EXPECT_EQ(history.last(), "'loop' (number " + std::to_string(LoopHistory::kMost + 5) + ")");
}

}  // namespace
}  // namespace perdure::automatic
