// show folds its output to a screenful, however many ranks and regions there are, without hiding differences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "cli/libraries.hpp"
#include "cli/show_text.hpp"
#include "cli/verb_testing.hpp"
#include "inspect/alike.hpp"

namespace perdure::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Writes a version of `ranks` ranks, 8 in a segment; `regions_of` gives the regions of a rank.
template <class Regions>
reader::VersionFacts version(std::uint32_t ranks, const Regions& regions_of) {
  reader::VersionFacts facts;
  facts.state = reader::VersionFacts::State::complete;
  facts.ranks = ranks;
  facts.listing.id = {"lulesh", 570, {1'700'000'000'000'000'000, 7}};
  facts.listing.segment_count = (ranks + 7) / 8;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (rank % 8 == 0) {
      const std::uint32_t index = rank / 8;
      reader::SegmentFacts segment{
          {index, facts.listing.segment_count, {}, "lulesh/570/" + std::to_string(index)}, 1 << 20, {}, {}};
      segment.manifest =
          segment::Manifest{facts.listing.id, ranks, index, facts.listing.segment_count, "perdure test", {}};
      facts.listing.segments.push_back(segment.ref);
      facts.segments.push_back(std::move(segment));
    }
    segment::Piece piece{rank, 1 << 20, regions_of(rank), {}};
    const std::uint64_t bytes = piece.capture_bytes();
    for (std::uint64_t at = 0; at < bytes; at += piece.chunk_bytes) piece.chunks.push_back({});
    facts.segments.back().manifest->pieces.push_back(std::move(piece));
  }
  return facts;
}

/// Gives 19 arrays and 5 scalars, as LULESH has them.
std::vector<segment::RegionEntry> lulesh(std::uint64_t count) {
  std::vector<segment::RegionEntry> regions;
  for (std::int32_t id = 0; id < 24; ++id) regions.push_back({id, 8, id < 19 ? count : 1});
  return regions;
}

std::int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(ShowFolds, AThousandRanksOfTwentyFourRegionsIntoAScreenful) {
  const auto facts = version(1000, [](std::uint32_t) { return lulesh(1331); });
  const std::string text = folded_text(facts, "/store");
  EXPECT_LE(lines(text), 12) << text;
  EXPECT_THAT(text, HasSubstr("1000 ranks, 125 of 125 segments"));
  EXPECT_THAT(text, HasSubstr("segments 0-124: 1.0 MiB each, in /store/lulesh/570, by perdure test"));
  EXPECT_THAT(text, HasSubstr("ranks 0-999 (1000): 24 regions, 197.6 KiB each, 193.0 MiB together in 1000 chunks"));
  EXPECT_THAT(text, testing::ContainsRegex("0-18 +8 +1331 +10.4 KiB +192.9 MiB"));
  EXPECT_THAT(text, testing::ContainsRegex("19-23 +8 +1 +8 B +39.1 KiB"));
}

TEST(ShowFolds, RanksWithOtherRegionsAreToldApart) {
  const auto facts = version(20, [](std::uint32_t rank) { return lulesh(rank % 2 == 0 ? 100 : 200); });
  const auto lots = alike_ranks(facts, 6);
  ASSERT_EQ(lots.size(), 2u);
  EXPECT_THAT(lots[0].ranks, ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 16, 18));
  EXPECT_EQ(lots[0].bytes, 10u * (19 * 800 + 40));
  EXPECT_EQ(lots[1].rank_bytes.least, 19u * 1600 + 40);
  EXPECT_THAT(folded_text(facts, "/store"), HasSubstr("ranks 1,3,5,7,9,...,19 (10): 24 regions"));
}

TEST(ShowFolds, RanksThatDifferInCountsOnlyAreToldWithTheirRangeWhenTheyAreMany) {
  const auto facts = version(1000, [](std::uint32_t rank) { return lulesh(1000 + rank); });
  const auto lots = alike_ranks(facts, 6);
  ASSERT_EQ(lots.size(), 1u);
  ASSERT_EQ(lots[0].regions.size(), 2u);
  EXPECT_EQ(lots[0].regions[0].count.least, 1000u);
  EXPECT_EQ(lots[0].regions[0].count.most, 1999u);
  const std::string text = folded_text(facts, "/store");
  EXPECT_LE(lines(text), 12) << text;
  EXPECT_THAT(text, HasSubstr("1000 to 1999"));
}

TEST(ShowFolds, WhateverRanksProtectItStaysAScreenful) {
  const auto facts = version(300, [](std::uint32_t rank) {
    std::vector<segment::RegionEntry> regions;
    for (std::int32_t id = 0; id < 100; ++id) regions.push_back({id, 1 + rank, 10ULL + static_cast<std::uint64_t>(id)});
    return regions;
  });
  const std::string text = folded_text(facts, "/store");
  EXPECT_LE(lines(text), 110) << text;
  EXPECT_THAT(text, HasSubstr("and 294 more ranks"));
  EXPECT_THAT(text, HasSubstr("and regions of 88 more sizes"));
}

// It would not end if each region were compared with all sizes before it.
TEST(ShowFolds, AMillionRegionsOfAsManySizes) {
  const auto facts = version(1, [](std::uint32_t) {
    std::vector<segment::RegionEntry> regions;
    for (std::int32_t id = 0; id < 1'000'000; ++id) regions.push_back({id, 1, static_cast<std::uint64_t>(id) + 1});
    return regions;
  });
  const std::string text = folded_text(facts, "/store");
  EXPECT_LE(lines(text), 30) << text;
  EXPECT_THAT(text, HasSubstr("rank 0: 1000000 regions"));
}

TEST(ShowFolds, NothingAtAllAndDamagedSegments) {
  auto facts = version(16, [](std::uint32_t) { return std::vector<segment::RegionEntry>{}; });
  EXPECT_THAT(folded_text(facts, "/store"), HasSubstr("ranks 0-15 (16): 0 regions, 0 B each"));
  facts.segments[1].manifest.reset();
  facts.segments[1].error =
      base::Error{PERDURE_CORRUPT, "/store/lulesh/570/1", "its manifest does not verify", "", false};
  const std::string text = folded_text(facts, "/store");
  EXPECT_THAT(text, HasSubstr("ranks 0-7 (8)"));
  EXPECT_THAT(text, HasSubstr("segment 1: /store/lulesh/570/1: its manifest does not verify"));
  facts.segments.clear();
  EXPECT_THAT(folded_text(facts, "/store"), Not(HasSubstr("ranks 0")));
}

// Memory is the usual kind: only other kinds are named.
TEST(Show, SaysTheKindOfEntriesThatAreNotMemory) {
  auto facts = version(2, [](std::uint32_t) { return lulesh(1331); });
  EXPECT_THAT(folded_text(facts, "/store"), Not(HasSubstr("KIND")));
  EXPECT_THAT(whole_text(facts, "/store"), Not(HasSubstr("memory")));
  for (auto& piece : facts.segments[0].manifest->pieces) {
    piece.regions[3].kind = segment::EntryKind::opaque;
    piece.regions[3].attributes = {{"shape", std::vector<std::int64_t>{11, 121}}, {"title", std::string("a\x1b[2Jb")}};
  }
  const std::string folded = folded_text(facts, "/store");
  EXPECT_THAT(folded, testing::ContainsRegex("REGIONS +ELEMENT BYTES +COUNT +SIZE OF ONE +ON ALL RANKS +KIND"));
  EXPECT_THAT(folded, testing::ContainsRegex(" 3 +8 +1331 +10.4 KiB +20.8 KiB +opaque"));
  EXPECT_THAT(folded, testing::ContainsRegex("0-2,4-18 .*memory"));
  EXPECT_THAT(whole_text(facts, "/store"), HasSubstr("rank 1, region 3: opaque, shape [11, 121], title \"a?[2Jb\"\n"));
}

TEST(ShowFolds, ShortensRangesToTheFirstAndTheLast) {
  EXPECT_EQ(short_ranges({}), "");
  EXPECT_EQ(short_ranges({-3, 7}), "-3,7");
  EXPECT_EQ(short_ranges({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(short_ranges({0, 2, 4, 6, 8, 10}, 6), "0,2,4,6,8,10");
  EXPECT_EQ(short_ranges({0, 2, 4, 6, 8, 10, 12, 14}, 4), "0,2,4,...,14");
}

TEST(Show, TellsDetailsOnRequest) {
  SampleStore store;
  store.add("nbody", 1, 4);
  auto show = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"show", "nbody@1", "--store", store.path()});
    return run_verb(more);
  };
  const auto whole = show({"--json"}).json()["versions"][0];
  const std::string hash = whole["segments"][2]["pieces"][0]["chunks"][0]["hash"];
  EXPECT_THAT(show({}).out, Not(HasSubstr(hash)));
  EXPECT_THAT(show({}).out, HasSubstr("ranks 0-3 (4): 2 regions"));
  EXPECT_THAT(show({"--verbose"}).out, HasSubstr(hash));
  EXPECT_THAT(show({"--rank", "2"}).out, HasSubstr(hash));
  EXPECT_THAT(show({"--rank", "1"}).out, Not(HasSubstr(hash)));
  EXPECT_EQ(show({"--rank", "2", "--json"}).json()["versions"][0]["segments"],
            base::Json::array({whole["segments"][2]}));
  const Ran none = show({"--rank", "4"});
  EXPECT_EQ(none.status, kCannot);
  EXPECT_THAT(none.err,
              HasSubstr("nbody version 1, rank 4: no segment that can be read holds it; its ranks are 0 to 3"));
  EXPECT_EQ(show({"--rank", "-1"}).status, kUsage);
}

}  // namespace
}  // namespace perdure::cli
