// The check of protection chooses where the second run begins, and judges the differences.
#include "inspect/check_protection_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace perdure::inspect {
namespace {

using Kind = plan::ProgramEnd::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const plan::ProgramEnd kWell{Kind::exited, 0, 1, false, false};
const plan::ProgramEnd kCrash{Kind::killed, SIGSEGV, 1, false, false};

std::vector<Checkpoint> versions(const std::string& name, std::initializer_list<std::uint64_t> numbers,
                                 std::uint64_t from_ns = 0) {
  std::vector<Checkpoint> all;
  for (std::uint64_t number : numbers) all.push_back({name, number, from_ns + number});
  return all;
}

std::vector<Checkpoint> operator+(std::vector<Checkpoint> one, const std::vector<Checkpoint>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

/// Both runs wrote 20, 30 and 40 after a restore of 10.
CheckFacts facts() {
  CheckFacts facts{kWell, kWell, {"a@10"}, {"a@10"}, {}, std::nullopt, std::nullopt};
  facts.comparison.compared = versions("a", {20, 30, 40});
  facts.comparison.seen = {{"a", 0}, {"a", 1}, {"a", 2}};
  return facts;
}

RegionDefect defect(std::uint64_t first = 5) { return {8, 100, first, 3, "1, then 2"}; }

TEST(CheckedProtection, GoesOnFromTheFirstVersionOfThoseThatAreFollowedByAnother) {
  EXPECT_EQ(restore_point(versions("a", {10, 20, 30}), std::nullopt).value(), 10u);
  EXPECT_EQ(restore_point(versions("a", {10, 20}), std::nullopt).value(), 10u);
}

TEST(CheckedProtection, WaitsUntilEveryNameThatIsWrittenAgainHasAVersion) {
  const auto both = versions("a", {10, 20, 30}) + versions("b", {10, 20}, 5);
  EXPECT_EQ(restore_point(both, std::nullopt).value(), 15u);
  const auto last_words = versions("a", {10, 20, 30}) + versions("end", {40});
  EXPECT_EQ(restore_point(last_words, std::nullopt).value(), 10u);
}

TEST(CheckedProtection, NeedsTwoVersionsOfAName) {
  for (const auto& written : {versions("a", {}), versions("a", {10}), versions("a", {10}) + versions("b", {20})}) {
    const auto point = restore_point(written, std::nullopt);
    ASSERT_FALSE(point);
    EXPECT_EQ(point.error().code, PERDURE_NOT_FOUND);
    EXPECT_FALSE(point.error().remedy.empty());
  }
}

TEST(CheckedProtection, GoesOnFromTheVersionThatWasAskedForIfALaterOneIsThere) {
  const auto written = versions("a", {10, 20, 30}) + versions("b", {20}, 5);
  EXPECT_EQ(restore_point(written, RestoreRequest{"", 10}).value(), 10u);
  EXPECT_EQ(restore_point(written, RestoreRequest{"", 20}).value(), 25u) << "the later one of both names";
  EXPECT_EQ(restore_point(written, RestoreRequest{"a", 20}).value(), 20u);
  const auto missing = restore_point(written, RestoreRequest{"", 15});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("a@10, a@20, a@30, b@20"));
  const auto last = restore_point(written, RestoreRequest{"a", 30});
  ASSERT_FALSE(last);
  EXPECT_THAT(last.error().text(), HasSubstr("no later version"));
}

TEST(CheckedProtection, ReadsRequestsWithAndWithoutANameAndRefusesOthers) {
  EXPECT_EQ(parse_restore_request("50").value().version, 50u);
  EXPECT_EQ(parse_restore_request("50").value().name, "");
  EXPECT_EQ(parse_restore_request("heat@7").value().name, "heat");
  for (const char* wrong : {"", "heat", "heat@", "@7", "heat@x", "-1", "1.5", "99999999999999999999"})
    EXPECT_FALSE(parse_restore_request(wrong)) << wrong;
}

TEST(CheckedProtection, MatchesVersionsByNameAndNumber) {
  const auto here = versions("a", {20, 30, 40}), there = versions("a", {20, 35, 40}, 1000);
  const Comparison comparison = match(here, there, true);
  EXPECT_THAT(comparison.compared, ElementsAre(here[0], here[2]));
  EXPECT_THAT(comparison.only_here, ElementsAre(here[1]));
  EXPECT_THAT(comparison.only_there, ElementsAre(there[1]));
  const Comparison ended = match(here, there, false);
  EXPECT_THAT(ended.only_here, IsEmpty()) << "a run that was ended has written fewer";
  EXPECT_EQ(ended.compared.size(), 2u);
}

TEST(CheckedProtection, CountsRanksAndVersionsAndKeepsTheFirstDifference) {
  Comparison comparison;
  comparison.seen = {{"a", 0}, {"a", 1}};
  comparison.add({"a", 1}, 20, 3, defect(5));
  comparison.add({"a", 1}, 20, 4, defect(9));
  comparison.add({"a", 1}, 30, 3, defect(0));
  const RegionDifference& difference = comparison.differing.at({"a", 1});
  EXPECT_EQ(difference.version, 20u);
  EXPECT_EQ(difference.rank, 3u);
  EXPECT_EQ(difference.defect.first_element, 5u);
  EXPECT_EQ(difference.ranks.size(), 2u);
  EXPECT_EQ(difference.versions.size(), 2u);
  EXPECT_THAT(comparison.equal(), ElementsAre(RegionKey{"a", 0}));
}

TEST(CheckedProtection, IsGoodWhenNothingDiffers) {
  EXPECT_FALSE(needs_repetition(facts()));
  EXPECT_EQ(judge(facts()).finding, ProtectionFinding::same);
}

TEST(CheckedProtection, NamesTheRegionsThatDifferFirstAndThoseThatFollow) {
  CheckFacts one = facts();
  one.comparison.add({"a", 0}, 30, 0, defect());
  one.comparison.add({"a", 2}, 20, 1, defect());
  EXPECT_TRUE(needs_repetition(one));
  one.repeated = kWell;
  one.repetition = facts().comparison;
  const ProtectionVerdict verdict = judge(one);
  EXPECT_EQ(verdict.finding, ProtectionFinding::differs);
  EXPECT_EQ(verdict.suspected.size(), 2u);
  EXPECT_THAT(verdict.text, HasSubstr("flowed into region 2 of a between the restore of a@10 and a@20"));
  EXPECT_THAT(verdict.text, HasSubstr("is not protected, or was moved, or is set anew after the restore"));
  EXPECT_THAT(verdict.text, HasSubstr("later region 0 of a"));
}

TEST(CheckedProtection, SaysNothingAboutAProgramThatDoesNotRepeatItself) {
  CheckFacts one = facts();
  one.comparison.add({"a", 2}, 20, 0, defect());
  one.repeated = kWell;
  one.repetition = one.comparison;
  const ProtectionVerdict verdict = judge(one);
  EXPECT_EQ(verdict.finding, ProtectionFinding::unknown);
  EXPECT_THAT(verdict.unsteady, ElementsAre(RegionKey{"a", 2}));
  EXPECT_THAT(verdict.text, HasSubstr("does not repeat itself"));
}

TEST(CheckedProtection, SuspectsWhatDiffersOnlyAfterARestoreBesideWhatAlwaysDiffers) {
  CheckFacts one = facts();
  one.comparison.add({"a", 1}, 20, 0, defect());
  one.comparison.add({"a", 2}, 20, 0, defect());
  one.repeated = kWell;
  one.repetition = facts().comparison;
  one.repetition->add({"a", 2}, 20, 0, defect());
  const ProtectionVerdict verdict = judge(one);
  EXPECT_EQ(verdict.finding, ProtectionFinding::differs);
  EXPECT_THAT(verdict.suspected, ElementsAre(RegionKey{"a", 1}));
  EXPECT_THAT(verdict.unsteady, ElementsAre(RegionKey{"a", 2}));
  EXPECT_THAT(verdict.text, HasSubstr("nothing is known of region 2 of a"));
}

TEST(CheckedProtection, CannotTellWhenNothingWasRestored) {
  CheckFacts one = facts();
  one.restored.clear();
  one.comparison.add({"a", 2}, 20, 0, defect());
  EXPECT_FALSE(needs_repetition(one)) << "another run would not help";
  const ProtectionVerdict verdict = judge(one);
  EXPECT_EQ(verdict.finding, ProtectionFinding::unknown);
  EXPECT_THAT(verdict.text, HasSubstr("restored nothing, though a@10 was there"));
}

TEST(CheckedProtection, CountsAnotherEndAndOtherVersionsAsDifferences) {
  CheckFacts one = facts();
  one.resumed = kCrash;
  one.comparison.compared.clear();
  one.repeated = kWell;
  one.repetition = facts().comparison;
  EXPECT_EQ(judge(one).finding, ProtectionFinding::differs);
  EXPECT_THAT(judge(one).text, HasSubstr("was killed by signal 11"));
  CheckFacts two = facts();
  two.comparison.only_here = versions("a", {40});
  two.repeated = kWell;
  two.repetition = facts().comparison;
  EXPECT_EQ(judge(two).finding, ProtectionFinding::differs);
  EXPECT_THAT(judge(two).text, HasSubstr("did not write a@40"));
}

TEST(CheckedProtection, TakesNoOtherEndAsAFindingWhenUndisturbedRunsDoNotEndAlikeEither) {
  CheckFacts one = facts();
  one.resumed = kCrash;
  one.repeated = kCrash;
  one.repetition = facts().comparison;
  EXPECT_EQ(judge(one).finding, ProtectionFinding::unknown);
  EXPECT_THAT(judge(one).text, HasSubstr("do not end alike"));
}

TEST(CheckedProtection, CannotTellWhenNoLaterVersionIsInBoth) {
  CheckFacts one = facts();
  one.comparison.compared.clear();
  one.undisturbed = one.resumed = kCrash;
  EXPECT_EQ(judge(one).finding, ProtectionFinding::unknown);
}

TEST(CheckedProtection, NamesOnlyTheFirstOfManyRegions) {
  std::set<RegionKey> many;
  for (int i = 0; i < 100; ++i) many.insert({"a", i});
  EXPECT_THAT(regions_text(many), HasSubstr("and 92 more"));
  EXPECT_THAT(regions_text(many), Not(HasSubstr("region 50")));
}

}  // namespace
}  // namespace perdure::inspect
