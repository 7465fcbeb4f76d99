// perdure halt asks programs to end, now or at a date.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verb_testing.hpp"
#include "os/system.hpp"
#include "store/halt_record.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;

std::uint64_t halt_at(SampleStore& store) { return store::halt_at(store.store(), "nbody").value(); }

TEST(Halt, AsksProgramsThatRunNow) {
  SampleStore store;
  store.add("nbody", 1);
  const std::uint64_t before = os::wall_clock_ns();
  const Ran ran = run_verb({"halt", "nbody", "--now", "--store", store.path()});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("nbody: programs that run at "));
  EXPECT_GE(halt_at(store), before);
  EXPECT_LE(halt_at(store), os::wall_clock_ns());
}

TEST(Halt, AsksForADateAndSaysItAndTakesItBack) {
  SampleStore store;
  store.add("nbody", 1);
  const Variable zone("TZ", "UTC-2");
  EXPECT_EQ(run_verb({"halt", "nbody", "--after", "2033-05-18T03:33:20Z", "--store", store.path()}).status, kGood);
  EXPECT_EQ(halt_at(store), 2'000'000'000'000'000'000U);
  EXPECT_EQ(run_verb({"halt", "nbody", "--after", "2033-05-18 05:33", "--store", store.path()}).status, kGood);
  EXPECT_EQ(halt_at(store), 1'999'999'980'000'000'000U) << "local time";
  EXPECT_THAT(run_verb({"halt", "nbody", "--store", store.path()}).out, HasSubstr("2033-05-18 03:33:00 UTC"));
  EXPECT_EQ(run_verb({"halt", "nbody", "--json", "--store", store.path()}).json()["halt_at"],
            "2033-05-18 03:33:00 UTC");
  EXPECT_EQ(run_verb({"halt", "nbody", "--off", "--store", store.path()}).status, kGood);
  EXPECT_EQ(halt_at(store), 0U);
  EXPECT_THAT(run_verb({"halt", "nbody", "--store", store.path()}).out, HasSubstr("nobody asks"));
  EXPECT_TRUE(run_verb({"halt", "nbody", "--json", "--store", store.path()}).json()["halt_at"].is_null());
}

TEST(Halt, OfWhatIsNotThereAndAtNoDateIsRefused) {
  SampleStore store;
  store.add("nbody", 1);
  const Ran other = run_verb({"halt", "heat", "--now", "--store", store.path()});
  EXPECT_EQ(other.status, kCannot);
  EXPECT_THAT(other.err, HasSubstr("checkpoint heat: there is nothing of it in this store"));
  for (const char* date : {"tomorrow", "2033-05-18", "2033-13-18T00:00", "2033-05-18T03:33+02:00", ""})
    EXPECT_EQ(run_verb({"halt", "nbody", "--after", date, "--store", store.path()}).status, kUsage) << date;
  EXPECT_EQ(run_verb({"halt", "nbody", "--now", "--off", "--store", store.path()}).status, kUsage);
  EXPECT_EQ(run_verb({"halt", "--now"}).status, kUsage);
  EXPECT_EQ(halt_at(store), 0U);
}

}  // namespace
}  // namespace perdure::cli
