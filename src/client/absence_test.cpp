// The error of a restore that finds nothing says why.
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

segment::VersionId on(plan::Branch branch, std::uint64_t version) {
  return {"app", version, {version, plan::nonce_on(branch, 1)}};
}

TEST(NoSuchVersion, IsNoFirstStartAndSaysWhatThereIs) {
  const auto error = no_such_version("app", 7, std::nullopt, {{id(5), id(3), id(4)}, {}});
  EXPECT_EQ(error.code, PERDURE_MISMATCH);
  EXPECT_EQ(error.object, "app version 7");
  EXPECT_EQ(error.cause, "there is no such version; its versions are 3, 4, 5");
  EXPECT_THAT(error.remedy, HasSubstr("PERDURE_LATEST"));
  EXPECT_EQ(no_such_version("app", 7, std::nullopt, {{}, {}, true}).cause,
            "there is no such version; of other versions there are remains only, or what was set aside");
}

TEST(NoSuchVersion, NamesTheBranchThatHasIt) {
  const VersionsOfName there{{id(3)}, {on(0xabc, 7), on(0xdef, 9)}};
  const auto left = no_such_version("app", 7, std::nullopt, there);
  EXPECT_EQ(left.code, PERDURE_MISMATCH);
  EXPECT_EQ(left.cause, "there is no such version; its only version is 3; another branch has app@000abc:7");
  EXPECT_THAT(left.remedy, HasSubstr("perdure_restore_branch() with branch 000abc takes that one"));
  EXPECT_EQ(no_such_version("app", 8, std::nullopt, there).cause, "there is no such version; its only version is 3");
  EXPECT_EQ(no_such_version("app", 8, std::nullopt, {{}, there.elsewhere}).cause,
            "there is no such version; another branch has app@000def:9");
}

TEST(NoSuchVersion, OfABranchNamesThatBranch) {
  EXPECT_EQ(no_such_version("app", 7, 0x123, {{on(0x123, 2)}, {}}).cause,
            "there is no such version of branch 000123; its only version is 2");
  const auto nothing = no_such_version("app", -1, 0x123, {{}, {on(0xabc, 7)}});
  EXPECT_EQ(nothing.code, PERDURE_MISMATCH);
  EXPECT_EQ(nothing.object, "app");
  EXPECT_EQ(nothing.cause, "there is nothing of branch 000123; another branch has app@000abc:7");
}

TEST(LeftBranches, MakeNothingAFirstStart) {
  auto error = absence("app", -1, {});
  add_left_branch(-1, {{}, {}}, error);
  EXPECT_EQ(error.code, PERDURE_NOT_FOUND);
  add_left_branch(-1, {{}, {on(0xabc, 7)}}, error);
  EXPECT_EQ(error.code, PERDURE_INCOMPLETE);
  EXPECT_EQ(error.cause, "nothing is left of the current branch; another branch has app@000abc:7");
}

}  // namespace
}  // namespace perdure::client
