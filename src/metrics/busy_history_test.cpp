#include "metrics/busy_history.hpp"

#include <gtest/gtest.h>

namespace perdure::metrics {
namespace {

TEST(BusyHistory, KnowsTheFractionOfAnyTimeThatIsOver) {
  BusyHistory history;
  history.begins(10);
  history.ends(12);
  history.begins(15);
  history.ends(16);
  EXPECT_DOUBLE_EQ(history.load(10, 20).value().fraction, 0.3);
  EXPECT_DOUBLE_EQ(history.load(11, 15.5).value().fraction, 1.5 / 4.5);
  EXPECT_DOUBLE_EQ(history.load(12, 15).value().fraction, 0);
  EXPECT_DOUBLE_EQ(history.load(10.5, 11.5).value().fraction, 1);
}

TEST(BusyHistory, ManyAtOnceAreBusyOnceAndWhatStillRunsCounts) {
  BusyHistory history;
  history.begins(1);
  history.begins(2);
  history.ends(3);
  EXPECT_DOUBLE_EQ(history.load(0, 4).value().fraction, 0.75);
  EXPECT_DOUBLE_EQ(history.load(0, 4).value().at_once, 4.0 / 3);
  history.ends(5);
  EXPECT_DOUBLE_EQ(history.load(0, 10).value().fraction, 0.4);
  EXPECT_DOUBLE_EQ(history.load(0, 10).value().at_once, 1.25);
}

TEST(BusyHistory, ShortPausesAreNoRest) {
  BusyHistory history;
  for (int i = 0; i < 10; ++i) {
    history.begins(i + 0.0005);
    history.ends(i + 1);
  }
  EXPECT_DOUBLE_EQ(history.load(0.0005, 10).value().fraction, 1);
  EXPECT_NEAR(history.load(0.0005, 10).value().at_once, 1, 1e-3);
}

TEST(BusyHistory, ForgetsTheOldestAndSaysSo) {
  BusyHistory history(5);
  EXPECT_FALSE(history.load(4, 6));
  EXPECT_TRUE(history.load(5, 6));
  EXPECT_FALSE(history.load(6, 6));
  for (int i = 0; i < 2000; ++i) {
    history.begins(10 + i);
    history.ends(10 + i + 0.5);
  }
  EXPECT_FALSE(history.load(10, 2010));
  EXPECT_DOUBLE_EQ(history.load(1010, 2010).value().fraction, 0.5);
}

TEST(BusyHistory, SurvivesTimesThatGoBackAndEndsWithoutBeginning) {
  BusyHistory history;
  history.ends(3);
  history.begins(10);
  history.ends(2);
  EXPECT_DOUBLE_EQ(history.load(0, 20).value().fraction, 0);
  history.begins(12);
  EXPECT_DOUBLE_EQ(history.load(10, 14).value().fraction, 0.5);
}

}  // namespace
}  // namespace perdure::metrics
