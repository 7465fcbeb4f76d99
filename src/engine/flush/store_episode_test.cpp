#include "engine/flush/store_episode.hpp"

#include <gtest/gtest.h>

namespace perdure::engine {
namespace {

constexpr std::uint64_t kEpisodeSecond = 1'000'000'000;

class StoreEpisodes : public ::testing::Test {
 protected:
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {version, 1}}; }
  static base::Error error(base::ErrorCode code, bool retryable) { return {code, "store", "broken", "", retryable}; }
  StoreEpisode::Answer fail(base::ErrorCode code, bool retryable = true, std::uint64_t at_s = 0) {
    return episode.failed(id(1), error(code, retryable), at_s * kEpisodeSecond, 0);
  }
  StoreEpisode episode{{kEpisodeSecond, 8 * kEpisodeSecond, 100 * kEpisodeSecond}};
};

TEST_F(StoreEpisodes, PausesBecomeLongerAndAnEndMakesThemShortAgain) {
  for (const std::uint64_t seconds : {1, 2, 4, 8, 8})
    EXPECT_EQ(fail(PERDURE_IO).retry_after_ns, seconds * kEpisodeSecond);
  ASSERT_TRUE(episode.stored(id(1), "here"));
  EXPECT_EQ(fail(PERDURE_IO).retry_after_ns, kEpisodeSecond);
}

TEST_F(StoreEpisodes, EachKindOfErrorIsReportedOnceUntilTheStoreWorks) {
  EXPECT_TRUE(fail(PERDURE_IO).report);
  EXPECT_FALSE(fail(PERDURE_IO).report);
  EXPECT_TRUE(fail(PERDURE_NO_SPACE).report);
  EXPECT_FALSE(fail(PERDURE_IO).report);
  const auto end = episode.stored(id(2), "here");
  ASSERT_TRUE(end);
  EXPECT_NE(end->find("here: works again; app version 2 is stored"), std::string::npos) << *end;
  EXPECT_FALSE(episode.stored(id(3), "here")) << "nothing failed since";
  EXPECT_TRUE(fail(PERDURE_IO).report);
}

TEST_F(StoreEpisodes, GivingUpIsReportedOnceWithTheReasonIfThatIsNew) {
  const auto first = fail(PERDURE_IO);
  ASSERT_TRUE(first.report);
  EXPECT_NE(first.report->find("is being retried"), std::string::npos) << *first.report;
  EXPECT_NE(first.report->find("store.path"), std::string::npos) << "what to do: " << *first.report;
  const auto last = episode.failed(id(1), error(PERDURE_IO, true), 101 * kEpisodeSecond, 100 * kEpisodeSecond);
  EXPECT_FALSE(last.retry_after_ns) << "for longer than it may fail";
  ASSERT_TRUE(last.report);
  EXPECT_NE(last.report->find("was given up"), std::string::npos) << *last.report;
  EXPECT_EQ(last.report->find("broken"), std::string::npos) << "that was said: " << *last.report;
  EXPECT_FALSE(fail(PERDURE_IO, true, 102).report) << "of the next version";
  const auto other = fail(PERDURE_NO_SPACE, false, 103);
  ASSERT_TRUE(other.report) << "another reason";
  EXPECT_NE(other.report->find("broken"), std::string::npos) << *other.report;
}

// Each attempt fails at once. Between the second and the third the job is suspended for an hour.
TEST_F(StoreEpisodes, TheTimeInWhichAJobWasSuspendedIsNotThatOfAStoreThatFails) {
  EXPECT_TRUE(fail(PERDURE_IO, true, 10).retry_after_ns);
  EXPECT_TRUE(fail(PERDURE_IO, true, 11).retry_after_ns);
  EXPECT_TRUE(fail(PERDURE_IO, true, 3613).retry_after_ns) << "it was due two seconds after the second";
  EXPECT_TRUE(fail(PERDURE_IO, true, 3617).retry_after_ns);
  // An attempt made in time counts, however long it takes.
  EXPECT_TRUE(
      episode.failed(id(2), error(PERDURE_IO, true), 3650 * kEpisodeSecond, 25 * kEpisodeSecond).retry_after_ns);
  EXPECT_FALSE(
      episode.failed(id(2), error(PERDURE_IO, true), 3720 * kEpisodeSecond, 62 * kEpisodeSecond).retry_after_ns);
}

TEST_F(StoreEpisodes, WhatCannotPassIsGivenUpAtOnceButAStoreThatIsMissingMayComeBack) {
  EXPECT_FALSE(fail(PERDURE_PERMISSION, false).retry_after_ns);
  EXPECT_TRUE(fail(PERDURE_NOT_FOUND, false).retry_after_ns);
}

}  // namespace
}  // namespace perdure::engine
