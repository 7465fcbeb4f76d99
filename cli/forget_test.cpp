#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verb_testing.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Forget, SaysWhatIsThereAndDoesNothingWithoutYes) {
  SampleStore store;
  for (std::uint64_t version : {1, 2}) store.add("nbody", version);
  store.add("nbody", 3, 2, {1});
  const auto aside = store.store().list("nbody").value().at(0);
  ASSERT_TRUE(store.store().quarantine(aside.segments[0], aside.id, {PERDURE_CORRUPT, "x", "damaged", "", false}));
  const Ran ran = run_verb({"forget", "nbody", "--store", store.path()});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_THAT(ran.out,
              HasSubstr("nbody: 1 complete version (up to 2), 2 that cannot be restored, 1 segment set aside"));
  EXPECT_THAT(ran.out, HasSubstr("--yes does it"));
  EXPECT_EQ(store.store().list("nbody").value().size(), 3U);
}

TEST(Forget, MakesTheNameAFirstStartAndTouchesNoOther) {
  SampleStore store;
  // Written by a node whose clock is ahead.
  store.add("nbody", 1, 2, {}, 5000, 9'000'000'000'000'000'000);
  store.add("heat", 1);
  const auto json = run_verb({"forget", "nbody", "--yes", "--json", "--store", store.path()}).json();
  EXPECT_EQ(json["actions"][0]["done"], true);
  EXPECT_GT(json["bytes"].get<std::uint64_t>(), 0U);
  EXPECT_THAT(store.store().list("nbody").value(), IsEmpty());
  EXPECT_GE(store.store().forgotten("nbody").value(), 9'000'000'000'000'000'001U);
  EXPECT_EQ(store.store().list("heat").value().size(), 1U);
}

TEST(Forget, OfWhatIsNotThereFailsAndNamesTheNearest) {
  SampleStore store;
  store.add("nbody", 1);
  const Ran ran = run_verb({"forget", "nbdy", "--yes", "--store", store.path()});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("did you mean nbody?"));
}

}  // namespace
}  // namespace perdure::cli
