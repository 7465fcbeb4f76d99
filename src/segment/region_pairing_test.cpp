#include "segment/region_pairing.hpp"

#include <gtest/gtest.h>

#include "segment/array_entry.hpp"

namespace perdure::segment {
namespace {

constexpr std::size_t kNobody = kNoPartner;
using Partners = std::vector<std::size_t>;

TEST(RegionPairing, GoesByNamesWhereBothHaveThem) {
  EXPECT_EQ(pair_regions({{0, "x"}, {1, "y"}}, {{0, "y"}, {1, "x"}}), (Partners{1, 0}));
  EXPECT_EQ(pair_regions({{0, "x"}, {1, "y"}}, {{0, "y"}, {1, "z"}}), (Partners{kNobody, 0}));
}

TEST(RegionPairing, GoesByNumbersWhereOneSideHasNoName) {
  EXPECT_EQ(pair_regions({{0}, {1}}, {{1}, {0}}), (Partners{1, 0}));
  EXPECT_EQ(pair_regions({{0, "x"}, {1}}, {{0}, {1, "y"}}), (Partners{0, 1}));
  EXPECT_EQ(pair_regions({{0}}, {{1}}), (Partners{kNobody}));
}

TEST(RegionPairing, GivesNobodyAwayTwice) {
  EXPECT_EQ(pair_regions({{0}, {1, "x"}}, {{0, "x"}, {1}}), (Partners{kNobody, 0}));
  EXPECT_EQ(pair_regions({{0, "x"}, {1}}, {{1, "x"}, {0}}), (Partners{0, kNobody}));
}

TEST(RegionPairing, GoesByNumbersAmongThoseOfOneName) {
  EXPECT_EQ(pair_regions({{0, "x"}, {1, "x"}}, {{1, "x"}, {0, "x"}}), (Partners{1, 0}));
  EXPECT_EQ(pair_regions({{0, "x"}, {1, "x"}}, {{1, "x"}, {2, "x"}}), (Partners{kNobody, 0}));
  EXPECT_EQ(pair_regions({{0, "x"}}, {{1, "x"}, {2, "x"}}), (Partners{kNobody}));
}

TEST(RegionPairing, KeepsWhatIsKnown) {
  KnownPairs known;
  known.partners = {1, kNobody};
  EXPECT_EQ(pair_regions({{0, "x"}, {1, "y"}}, {{0, "x"}, {1, "y"}}, known), (Partners{1, kNobody}));
  known = {{}, {true, false}};
  EXPECT_EQ(pair_regions({{0, "x"}, {1, "y"}}, {{0}, {1}}, known), (Partners{kNobody, 1}));
}

TEST(RegionPairing, ReadsNamesOfEntries) {
  std::vector<RegionEntry> entries = {{3, 8, 1}, {4, 8, 1}, {5, 8, 1}};
  set_label(entries[1], {"speed", "", ""});
  entries[2].attributes["name"] = std::string("no name");
  const auto regions = called(entries);
  ASSERT_EQ(regions.size(), 3U);
  EXPECT_EQ(regions[0].name, "");
  EXPECT_EQ(regions[1].id, 4);
  EXPECT_EQ(regions[1].name, "speed");
  EXPECT_EQ(regions[2].name, "") << "what is none is ignored";
}

}  // namespace
}  // namespace perdure::segment
