#include "node/left.hpp"

#include <gmock/gmock.h>

#include "node/dead_engine_testing.hpp"

namespace perdure::node {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class LeftByEngines : public DeadEnginesFixture {};

TEST_F(LeftByEngines, SaysWhoseItIsAndWhatItHolds) {
  leave("wave", {1, 2});
  append("wave", catalog::StoredRecord{test_support::sample_id(1, "run"), 0});
  const Left left = left_by("wave");
  EXPECT_FALSE(left.directory.alive);
  EXPECT_GE(left.directory.bytes, 30'000u);
  EXPECT_EQ(left.directory.directories.size(), 2u);
  EXPECT_EQ(whose(left), "job 'wave' with store " + store_of("wave"));
  EXPECT_FALSE(left.damage);
  ASSERT_EQ(left.holdings.size(), 2u);
  EXPECT_EQ(left.holdings[0].part, Holding::Part::stored);
  EXPECT_EQ(left.holdings[1].part, Holding::Part::unstored);
  EXPECT_TRUE(left.holds("run"));
  EXPECT_FALSE(left.holds("walk"));
  EXPECT_EQ(left.catalog, hash_of_catalog(path_of("wave")).value());
}

TEST_F(LeftByEngines, WithoutACatalogHoldsNothing) {
  leave("wave", {1});
  ASSERT_TRUE(os::remove_file(path_of("wave") + "/catalog"));
  const Left left = left_by("wave");
  EXPECT_FALSE(left.needs_store());
  EXPECT_TRUE(judge(left, {}).all_stored());
}

TEST_F(LeftByEngines, WithADamagedCatalogMayHoldMoreThanIsSeen) {
  leave("wave", {1, 2});
  const std::string log = path_of("wave") + "/catalog";
  auto file = std::fstream(log, std::ios::in | std::ios::out);
  file.seekp(40);
  file << "?????";
  file.close();
  Left left = left_by("wave");
  EXPECT_TRUE(left.damage && left.needs_store());
  left.holdings.clear();
  EXPECT_FALSE(judge(left, {}).all_stored());
  EXPECT_THAT(lacking_text(left, judge(left, {})), HasSubstr("damaged record"));
  std::ofstream(log) << "this is something else altogether";
  EXPECT_TRUE(left_by("wave").damage);
}

TEST_F(LeftByEngines, WithSlotsThatAnotherConfigurationPutElsewhereKnowsThem) {
  leave("wave", {1});
  const std::string engine = path_of("wave").substr(path_of("wave").rfind('/'));
  const std::string mine = directory / "elsewhere" + engine + ".slots", foreign = directory / "elsewhere/things";
  for (const std::string& path : {mine, foreign}) std::filesystem::create_directories(path);
  append("wave", catalog::TierRecord{1, "file", 42, {mine, 1, 2, 0}});
  append("wave", catalog::TierRecord{2, "file", 43, {foreign, 1, 3, 0}});
  const auto parts = left_by("wave").directory.directories;
  EXPECT_THAT(parts, testing::Contains(mine));
  EXPECT_THAT(parts, testing::Not(testing::Contains(foreign)));
}

TEST_F(LeftByEngines, IsJudgedByWhatItsStoreHas) {
  leave("wave", {1, 2});
  const Left left = left_by("wave");
  const auto has = [](std::set<segment::VersionId> whole) {
    Facts facts;
    facts.emplace("run", StoreFacts{std::move(whole), {}, 0});
    return facts;
  };
  const auto first = test_support::sample_id(1, "run"), second = test_support::sample_id(2, "run");
  EXPECT_TRUE(judge(left, has({first, second})).all_stored());
  const Judgement half = judge(left, has({first}));
  EXPECT_EQ(half.lacking, std::vector<Holding>{left.holdings[1]});
  EXPECT_THAT(half.unknown, IsEmpty());
  EXPECT_EQ(lacking_text(left, half), "job 'wave' with store " + store_of("wave") + ": run version 2 (4.9 KiB)");
  Facts unreachable;
  unreachable.emplace("run", base::fail(PERDURE_UNAVAILABLE, "/far", "it is away"));
  EXPECT_EQ(judge(left, unreachable).lacking.size(), 2u);
  EXPECT_THAT(judge(left, unreachable).unknown, HasSubstr("it is away"));
  EXPECT_FALSE(judge(left, {}).all_stored()) << "its store was not asked";
}

TEST_F(LeftByEngines, OfManyVersionsSomeAreNamed) {
  leave("wave", {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(enumerated(left_by("wave").holdings), AllOf(HasSubstr("run version 1 (4.9 KiB), run version 2"),
                                                          HasSubstr("run version 4 (4.9 KiB) and 2 more")));
}

}  // namespace
}  // namespace perdure::node
