// Tests a table of the changes that people make between two starts, and the result of each.
#include "capture/matching.hpp"

#include <gtest/gtest.h>

namespace perdure::capture {
namespace {

using segment::RegionEntry;

/// A program's regions: number, name and number of elements of 8 bytes.
struct Said {
  std::int32_t id = 0;
  std::string name = {};
  std::uint64_t count = 10;
  std::string type = {};
};

/// A table of regions that lie behind each other.
class ProtectedRegions {
 public:
  ProtectedRegions() = default;
  explicit ProtectedRegions(const std::vector<Said>& regions) {
    for (const Said& region : regions) add(region);
  }
  void add(const Said& region) {
    EXPECT_TRUE(table_.protect({region.id, memory_.data() + used_, 8, region.count}));
    used_ += 8 * region.count;
    EXPECT_TRUE(table_.set_label(region.id, {region.name, "", ""}));
    if (region.type.empty()) return;
    EXPECT_TRUE(table_.set_elements(region.id, {array::ElementType::parse(region.type, "test").value(), {}}));
  }
  RegionTable& table() { return table_; }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(1 << 16);
  std::size_t used_ = 0;
  RegionTable table_;
};

std::vector<RegionEntry> entries_of(const std::vector<Said>& regions) {
  return ProtectedRegions(regions).table().entries();
}

std::vector<std::int32_t> ids_of(const RegionTable& table) {
  std::vector<std::int32_t> ids;
  for (const auto& [id, region] : table.regions()) ids.push_back(id);
  return ids;
}

Matching match_all(const RegionTable& table, const std::vector<RegionEntry>& stored) {
  return match_regions(table, stored, {ids_of(table), true}).value();
}

std::string text_of(const Matching& matching) {
  return matching.differences.empty() ? "" : mismatch(matching.differences, "app version 1").text();
}

struct Change {
  const char* what;
  std::vector<Said> then, now;
  std::vector<std::int32_t> to;  ///< by stored region, in the order of their numbers; none: it does not fit
  std::vector<std::string> told = {};
};

constexpr std::int32_t kNone = kNoRegion;

class Changes : public testing::TestWithParam<Change> {};

TEST_P(Changes, AreMatchedOrToldByName) {
  const Change& change = GetParam();
  ProtectedRegions now(change.now);
  const auto matching = match_all(now.table(), entries_of(change.then));
  const std::string text = text_of(matching);
  EXPECT_EQ(matching.differences.size(), change.told.size()) << text;
  for (const std::string& told : change.told) EXPECT_NE(text.find(told), std::string::npos) << text;
  if (change.told.empty()) {
    EXPECT_EQ(matching.to, change.to);
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfPrograms, Changes,
    testing::Values(
        Change{"nothing", {{0, "x"}, {1, "y"}}, {{0, "x"}, {1, "y"}}, {0, 1}},
        Change{"without_names", {{0}, {1}}, {{0}, {1}}, {0, 1}},
        Change{"numbers_swapped", {{0, "x"}, {1, "y"}}, {{0, "y"}, {1, "x"}}, {1, 0}},
        Change{"numbers_moved", {{0, "x"}, {1, "y"}}, {{7, "x"}, {3, "y"}}, {7, 3}},
        Change{"names_came", {{0}, {1}}, {{0, "x"}, {1, "y"}}, {0, 1}},
        Change{"names_went", {{0, "x"}, {1, "y"}}, {{0}, {1}}, {0, 1}},
        Change{"one_name_came_with_another_number",
               {{0, "x"}, {1}},
               {{1, "x"}, {0}},
               {},
               {"region 0 is protected and not stored", "region 1 is stored and not protected"}},
        Change{"added", {{0, "x"}}, {{0, "x"}, {2, "extra"}}, {}, {"region 2 'extra' is protected and not stored"}},
        Change{"added_without_name", {{0}}, {{0}, {2}}, {}, {"region 2 is protected and not stored"}},
        Change{"removed", {{0, "x"}, {1, "y"}}, {{0, "x"}}, {}, {"region 1 'y' is stored and not protected"}},
        Change{"renamed",
               {{0, "x"}},
               {{0, "z"}},
               {},
               {"region 0 'z' is protected and not stored", "region 0 'x' is stored and not protected"}},
        Change{"resized",
               {{0, "x", 10}},
               {{0, "x", 12}},
               {},
               {"region 0 'x': it was stored as 10 elements of 8 bytes, and is protected as 12 elements of 8 bytes"}},
        Change{"resized_and_moved", {{0, "x", 10}}, {{5, "x", 12}}, {}, {"region 5 'x' (stored as region 0 'x'): "}},
        Change{"other_type",
               {{0, "x", 10, "f8"}},
               {{0, "x", 10, "i8"}},
               {},
               {"region 0 'x': its element type was stored as f8, and is protected as i8"}},
        Change{"type_unknown_then", {{0, "x", 10}}, {{0, "x", 10, "i8"}}, {0}},
        Change{"type_unknown_now", {{0, "x", 10, "f8"}}, {{0, "x", 10}}, {0}},
        Change{"same_name_twice", {{0, "x"}, {1, "x"}}, {{0, "x"}, {1, "x"}}, {0, 1}},
        Change{"same_name_twice_and_a_number_moved",
               {{0, "x"}, {1, "x"}},
               {{0, "x"}, {2, "x"}},
               {},
               {"region 2 'x' is protected and not stored", "region 1 'x' is stored and not protected"}},
        Change{"all_at_once",
               {{0, "x"}, {1, "y"}, {2, "z", 4}},
               {{0, "x", 11}, {2, "z", 4}, {3, "new"}},
               {},
               {"region 3 'new' is protected and not stored", "region 1 'y' is stored and not protected",
                "region 0 'x': it was stored as 10 elements"}}),
    [](const auto& param) { return std::string(param.param.what); });

TEST(Matching, TellsAllDifferencesInOneTextWithWaysOn) {
  ProtectedRegions now({{0, "x", 11}, {3, "new"}});
  const auto error = mismatch(match_all(now.table(), entries_of({{0, "x"}, {1, "y"}})).differences, "app version 1");
  EXPECT_EQ(error.code, PERDURE_MISMATCH);
  EXPECT_EQ(error.object, "app version 1");
  EXPECT_EQ(
      error.cause,
      "it does not fit what is protected: region 3 'new' is protected and not stored; region 1 'y' is stored and "
      "not protected; region 0 'x': it was stored as 10 elements of 8 bytes, and is protected as 11 elements of 8 "
      "bytes");
  for (const char* call :
       {"perdure_renamed()", "perdure_set_presence()", "perdure_pass_over()", "perdure_stored_size()"})
    EXPECT_NE(error.remedy.find(call), std::string::npos) << error.remedy;
}

TEST(Matching, TellsTheFirstDifferencesWhereThereAreVeryMany) {
  std::vector<Said> many;
  for (std::int32_t id = 0; id < 250; ++id) many.push_back({id, "", 1});
  ProtectedRegions now(many);
  const auto error = mismatch(match_all(now.table(), {}).differences, "app version 1");
  EXPECT_NE(error.cause.find("region 199 is protected"), std::string::npos);
  EXPECT_EQ(error.cause.find("region 200 "), std::string::npos);
  EXPECT_TRUE(error.cause.ends_with("; and 50 more differences")) << error.cause;
}

TEST(Matching, OfSomeRegionsAsksForTheseOnly) {
  ProtectedRegions now({{0, "y"}, {1, "x"}, {2, "new"}});
  const auto stored = entries_of({{0, "x"}, {1, "y"}, {5, "old"}});
  const auto one = match_regions(now.table(), stored, {{1}, false}).value();
  EXPECT_TRUE(one.differences.empty()) << text_of(one);
  EXPECT_EQ(one.to, (std::vector<std::int32_t>{1, kNone, kNone}));
  const auto none = match_regions(now.table(), stored, {{2, 9}, false}).value();
  const std::string text = text_of(none);
  EXPECT_EQ(none.differences.size(), 2U) << text;
  EXPECT_NE(text.find("region 9 is not protected; region 2 'new' is protected and not stored"), std::string::npos)
      << text;
}

TEST(Matching, ComparesKindsAlsoOfWhatIsNotAskedForWhereAllIs) {
  ProtectedRegions now({{0, "x"}, {1, "y"}});
  auto stored = entries_of({{0, "x"}, {1, "y"}});
  stored[1].kind = segment::EntryKind::opaque;
  EXPECT_TRUE(match_regions(now.table(), stored, {{0}, false}).value().differences.empty());
  const auto all = match_regions(now.table(), stored, {{0}, true}).value();
  EXPECT_NE(text_of(all).find("region 1 'y': it is protected as memory of one rank, and was stored as opaque"),
            std::string::npos)
      << text_of(all);
}

TEST(Matching, LetsWhatIsOptionalBeAbsentButNotOfAnotherSize) {
  ProtectedRegions now({{0, "x"}, {2, "extra"}});
  ASSERT_TRUE(now.table().set_optional(2, true));
  const auto without = match_all(now.table(), entries_of({{0, "x"}}));
  EXPECT_TRUE(without.differences.empty()) << text_of(without);
  EXPECT_EQ(without.absent, std::vector<std::int32_t>{2});
  const auto with = match_all(now.table(), entries_of({{0, "x"}, {4, "extra"}}));
  EXPECT_EQ(with.to, (std::vector<std::int32_t>{0, 2}));
  EXPECT_TRUE(with.absent.empty());
  EXPECT_EQ(match_all(now.table(), entries_of({{0, "x"}, {4, "extra", 3}})).differences.size(), 1U);
}

TEST(Matching, PassesOverWhatItIsTold) {
  const auto stored = entries_of({{0, "x"}, {1, "old"}, {5}});
  const auto differences = [&](const std::vector<std::string>& passed_over) {
    ProtectedRegions now({{0, "x"}});
    for (const auto& region : passed_over) EXPECT_TRUE(now.table().changes().pass_over(region));
    return match_all(now.table(), stored).differences.size();
  };
  EXPECT_EQ(differences({}), 2U);
  EXPECT_EQ(differences({"old"}), 1U);
  EXPECT_EQ(differences({"old", "1"}), 1U) << "it has a name";
  EXPECT_EQ(differences({"old", "5"}), 0U);
  EXPECT_EQ(differences({"*"}), 0U);
}

TEST(Matching, DoesNotTakeByItsNumberWhatIsPassedOverByName) {
  ProtectedRegions now({Said{1}});
  ASSERT_TRUE(now.table().set_optional(1, true));
  ASSERT_TRUE(now.table().changes().pass_over("old"));
  const auto matching = match_all(now.table(), entries_of({{1, "old"}}));
  EXPECT_TRUE(matching.differences.empty()) << text_of(matching);
  EXPECT_EQ(matching.to, std::vector<std::int32_t>{kNone});
  EXPECT_EQ(matching.absent, std::vector<std::int32_t>{1});
}

/// Renames of the program `now`, and their effect on checkpoints of several ages.
class Renames : public testing::Test {
 protected:
  void rename(const std::string& before, const std::string& now) {
    ASSERT_TRUE(now_.table().changes().rename(before, now));
  }
  void expect(const std::vector<Said>& stored, const std::vector<std::int32_t>& to) {
    const auto matching = match_all(now_.table(), entries_of(stored));
    EXPECT_TRUE(matching.differences.empty()) << text_of(matching);
    EXPECT_EQ(matching.to, to);
  }
  ProtectedRegions now_;
};

TEST_F(Renames, HoldForOldCheckpointsAndLeaveNewOnesAlone) {
  now_.add({0, "velocity"});
  rename("u", "velocity");
  rename("vel", "velocity");
  expect({{0, "u"}}, {0});
  expect({{4, "vel"}}, {0});
  expect({{0, "velocity"}}, {0});
  EXPECT_EQ(match_all(now_.table(), entries_of({{0, "u"}, {1, "vel"}})).differences.size(), 3U)
      << "two became one: neither is taken";
  EXPECT_EQ(match_all(now_.table(), entries_of({{0, "u"}, {1, "velocity"}})).differences.size(), 1U) << "left over";
}

TEST_F(Renames, MayHandANameOn) {
  now_.add({0, "b"});
  now_.add({1, "c"});
  rename("a", "b");
  rename("b", "c");
  expect({{0, "a"}, {1, "b"}}, {0, 1});
  expect({{0, "b"}, {1, "c"}}, {0, 1});
}

TEST_F(Renames, MayTakeTheNameOfWhatIsPassedOver) {
  now_.add({0, "y"});
  rename("x", "y");
  ASSERT_TRUE(now_.table().changes().pass_over("y"));
  expect({{0, "x"}, {1, "y"}}, {0, kNone});
  expect({{0, "y"}}, {0});
}

TEST_F(Renames, KnowRegionsWithoutNamesByNumber) {
  now_.add({0, "x"});
  now_.add({8, ""});
  rename("3", "x");
  rename("4", "8");
  expect({{3}, {4}}, {0, 8});
  expect({{0, "x"}, {8}}, {0, 8});
}

TEST_F(Renames, ThatGoRoundInACircleOrAreNoNamesAreRefused) {
  auto& changes = now_.table().changes();
  rename("a", "b");
  rename("b", "c");
  EXPECT_EQ(changes.rename("c", "a").error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(changes.rename("x", "x").error().code, PERDURE_INVALID_ARGUMENT);
  for (const char* none : {"", "no name", "-1", "4294967296", "7a", "*"}) {
    EXPECT_EQ(changes.rename(none, "a").error().code, PERDURE_INVALID_ARGUMENT) << none;
    EXPECT_EQ(changes.rename("q", none).error().code, PERDURE_INVALID_ARGUMENT) << none;
    if (std::string(none) == "*") continue;
    EXPECT_EQ(changes.pass_over(none).error().code, PERDURE_INVALID_ARGUMENT) << none;
  }
  rename("b", "d");  // instead
  EXPECT_TRUE(changes.rename("c", "a"));
}

TEST(Matching, FindsTheEntryOfARegionAsARestoreWould) {
  ProtectedRegions now({{0, "y"}, {1, "x"}});
  const auto stored = entries_of({{0, "x"}, {1, "y"}, {2, "z"}});
  EXPECT_EQ(entry_for(now.table(), stored, 0), 1U);
  EXPECT_EQ(entry_for(now.table(), stored, 1), 0U);
  EXPECT_EQ(entry_for(now.table(), stored, 2), 2U) << "not protected: by its number";
  EXPECT_EQ(entry_for(now.table(), stored, 3), stored.size());
  now.add({2, "z"});
  EXPECT_EQ(entry_for(now.table(), stored, 2), 2U);
  ASSERT_TRUE(now.table().changes().rename("x", "w"));
  now.add({3, "w"});
  EXPECT_EQ(entry_for(now.table(), stored, 3), 0U);
  EXPECT_EQ(entry_for(now.table(), stored, 1), stored.size()) << "it is w now";
}

}  // namespace
}  // namespace perdure::capture
