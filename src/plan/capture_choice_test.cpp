#include "plan/capture_choice.hpp"

#include <gtest/gtest.h>

namespace perdure::plan {
namespace {

/// Counts the captures that copy in their call until one protects.
unsigned until_next(CaptureChoice& choice) {
  unsigned copies = 0;
  while (!choice.next()) ++copies;
  return copies;
}

TEST(CaptureChoice, ProtectsWhileNothingIsKnown) {
  CaptureChoice choice;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(choice.next());
  choice.met({0, 0, false});
  EXPECT_TRUE(choice.next());
}

TEST(CaptureChoice, GoesByHowOftenAThreadHadToWaitAndWhoHasTheProcessor) {
  for (const bool idle : {false, true})
    for (std::uint64_t waits = 0; waits <= 1000; ++waits) {
      CaptureChoice choice;
      choice.met({16384, waits, idle});
      EXPECT_EQ(choice.next(), waits < (idle ? 342U : 171U)) << waits << (idle ? " idle" : "");
    }
}

TEST(CaptureChoice, TriesAgainTheLaterTheMoreOftenItDidNotPay) {
  CaptureChoice choice;
  for (const unsigned copies : {4U, 8U, 16U, 32U, 64U, 64U}) {
    choice.met({100, 100, true});
    EXPECT_EQ(until_next(choice), copies);
  }
  choice.met({100, 1, true});
  EXPECT_TRUE(choice.next());
  choice.met({100, 100, true});
  EXPECT_EQ(until_next(choice), 4U) << "it had paid in between";
}

}  // namespace
}  // namespace perdure::plan
