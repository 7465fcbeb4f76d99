#include "client/absence.hpp"

#include <gmock/gmock.h>

namespace perdure::client {
namespace {

using testing::HasSubstr;

segment::VersionId id(std::uint64_t version) { return {"app", version, {version, 1}}; }

TEST(Absence, IsAFirstStartOnlyWhereThereIsNothing) {
  const auto error = absence("app", -1, {});
  EXPECT_EQ(error.code, PERDURE_NOT_FOUND);
  EXPECT_EQ(error.object, "app");
  EXPECT_EQ(absence("app", 3, {}).object, "app version 3");
}

TEST(Absence, OfWhatWasSetAsideNamesTheNewestFile) {
  const auto error =
      absence("app", -1, {{{id(1), "/store/.quarantine/one"}, {id(2), "/store/.quarantine/two"}}, {}, {}});
  EXPECT_EQ(error.code, PERDURE_CORRUPT);
  EXPECT_THAT(error.cause, HasSubstr("/store/.quarantine/two"));
  EXPECT_THAT(error.remedy, HasSubstr("perdure forget app"));
  EXPECT_FALSE(error.retryable);
}

TEST(Absence, OfPartsSaysWhichVersionAndWhereTheyAre) {
  const auto stored = absence("app", -1, {{}, {id(4), id(3)}, {}});
  EXPECT_EQ(stored.code, PERDURE_INCOMPLETE);
  EXPECT_THAT(stored.cause, HasSubstr("app version 4"));
  EXPECT_THAT(stored.cause, HasSubstr("the store has some segments only"));
  const auto held = absence("app", -1, {{}, {id(4)}, {id(5)}});
  EXPECT_EQ(held.code, PERDURE_INCOMPLETE);
  EXPECT_THAT(held.cause, HasSubstr("app version 5"));
  EXPECT_THAT(held.remedy, HasSubstr("perdure forget app"));
  EXPECT_THAT(absence("app", -1, {{}, {}, {id(5)}}).cause, HasSubstr("app version 5"));
  const auto older_held = absence("app", -1, {{}, {id(5)}, {id(4)}});
  EXPECT_THAT(older_held.cause, HasSubstr("app version 5"));
  EXPECT_THAT(older_held.cause, HasSubstr("the store has some segments only"));
}

TEST(Absence, OfWhatATierHasThatCannotBeReachedSaysSo) {
  const auto error = absence("app", -1, {{}, {id(3)}, {id(4)}, {}, {id(4)}});
  EXPECT_EQ(error.code, PERDURE_INCOMPLETE);
  EXPECT_THAT(error.cause, HasSubstr("app version 4"));
  EXPECT_THAT(error.cause, HasSubstr("a tier that it cannot reach"));
  EXPECT_THAT(error.remedy, HasSubstr("engine.log"));
  EXPECT_THAT(error.remedy, HasSubstr("perdure forget app"));
}

TEST(Absence, OfWhatFailedJustNowNamesIt) {
  const auto error = absence("app", -1, {{}, {id(3)}, {}, {id(6), id(7)}});
  EXPECT_EQ(error.code, PERDURE_CORRUPT);
  EXPECT_THAT(error.cause, HasSubstr("app version 7"));
}

TEST(Absence, OfDamageCountsBeforeMissingParts) {
  EXPECT_EQ(absence("app", -1, {{{id(1), "/q"}}, {id(4)}, {id(5)}}).code, PERDURE_CORRUPT);
}

}  // namespace
}  // namespace perdure::client
