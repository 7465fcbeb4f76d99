#include "affinity/region_nodes.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <random>

namespace perdure::affinity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kPage = 4096;

/// Examines a region of whole pages with the given nodes; counts the pages that are asked for.
RegionNodes found(std::uint64_t pages, const std::function<int(std::uint64_t)>& node, std::uint64_t* asked = nullptr) {
  return find_region_nodes(pages * kPage, kPage, kPage,
                           [&](std::span<const std::uint64_t> numbers, std::span<int> nodes) {
                             for (std::size_t i = 0; i < numbers.size(); ++i) {
                               EXPECT_LT(numbers[i], pages);
                               nodes[i] = node(numbers[i]);
                             }
                             if (asked != nullptr) *asked += numbers.size();
                           });
}

/// Counts the pages that come back to where they were.
std::uint64_t kept(const RegionNodes& nodes, std::uint64_t pages, const std::function<int(std::uint64_t)>& node) {
  std::uint64_t same = 0, next = 0;
  for (const auto& part : pages_on_nodes(nodes, pages * kPage, kPage, kPage)) {
    EXPECT_EQ(part.begin, next * kPage) << "parts follow each other";
    for (; next * kPage < part.begin + part.bytes; ++next) same += static_cast<int>(part.node) == node(next) ? 1 : 0;
  }
  return same;
}

segment::RegionEntry noted(std::uint64_t pages, const RegionNodes& nodes) {
  segment::RegionEntry entry{1, 1, pages * kPage};
  note(nodes, entry.attributes);
  return entry;
}

TEST(RegionNodesNoted, OfOneNodeAreOneRunAndFewPagesAreAskedFor) {
  std::uint64_t asked = 0;
  const auto nodes = found(
      262144, [](std::uint64_t) { return 3; }, &asked);
  EXPECT_THAT(nodes.runs, ElementsAre(NodeRun{3, 262144 * kPage}));
  EXPECT_LT(asked, 262144U / 60);
}

TEST(RegionNodesNoted, ChangeAtThePageWhereTheyDo) {
  const auto node = [](std::uint64_t page) { return page < 1001 ? 0 : page < 5000 ? 2 : 1; };
  const auto nodes = found(9000, node);
  EXPECT_THAT(nodes.runs, ElementsAre(NodeRun{0, 1001 * kPage}, NodeRun{2, 3999 * kPage}, NodeRun{1, 4000 * kPage}));
  EXPECT_FALSE(nodes.in_turn);
  EXPECT_EQ(nodes_of(noted(9000, nodes)), nodes);
}

TEST(RegionNodesNoted, CountPagesThatAreNowhereToThoseBefore) {
  for (const bool first : {true, false})
    EXPECT_THAT(found(100, [&](std::uint64_t page) { return (page < 50) == first ? -2 : 1; }).runs,
                ElementsAre(NodeRun{1, 100 * kPage}));
  EXPECT_FALSE(found(100, [](std::uint64_t) { return -2; }).known());
  EXPECT_FALSE(found(1, [](std::uint64_t) { return static_cast<int>(kMostNodes); }).known());
}

TEST(RegionNodesNoted, InTurnOfAnyPeriodComeBackAsTheyWere) {
  for (const std::uint64_t period : {2, 3, 4, 7, 8, 16}) {
    SCOPED_TRACE(period);
    const auto node = [&](std::uint64_t page) { return static_cast<int>((page + 1) % period); };
    const auto nodes = found(5000, node);
    EXPECT_TRUE(nodes.in_turn);
    EXPECT_EQ(nodes_of(noted(5000, nodes)), nodes);
    EXPECT_EQ(kept(nodes, 5000, node), 5000U);
  }
}

TEST(RegionNodesNoted, OfMorePiecesThanThereIsRoomForAreRightForMostPages) {
  // 600 pieces of 15 pages are on node 0, with one page on node 1 after each. In turn would be right for half of them.
  const auto node = [](std::uint64_t page) { return page % 16 == 15 ? 1 : 0; };
  const auto nodes = found(9600, node);
  EXPECT_FALSE(nodes.in_turn);
  EXPECT_GE(kept(nodes, 9600, node), 9600U * 15 / 16);
}

TEST(RegionNodesNoted, BeginWithAPartOfAPage) {
  const auto ask = [](std::span<const std::uint64_t> pages, std::span<int> nodes) {
    for (std::size_t i = 0; i < pages.size(); ++i) nodes[i] = pages[i] < 3 ? 0 : 1;
  };
  const auto nodes = find_region_nodes(10 * kPage, 100, kPage, ask);  // on 11 pages
  EXPECT_THAT(nodes.runs, ElementsAre(NodeRun{0, 100 + 2 * kPage}, NodeRun{1, 8 * kPage - 100}));
  EXPECT_THAT(pages_on_nodes(nodes, 10 * kPage, 100, kPage),
              ElementsAre(NodePart{0, 100 + 2 * kPage, 0}, NodePart{100 + 2 * kPage, 8 * kPage - 100, 1}))
      << "the same place";
  EXPECT_THAT(pages_on_nodes(nodes, 10 * kPage, kPage, kPage),
              ElementsAre(NodePart{0, 2 * kPage, 0}, NodePart{2 * kPage, 8 * kPage, 1}))
      << "whole pages, the one between goes where its end was";
  const RegionNodes turns{{{0, kPage}, {1, kPage}}, true};
  EXPECT_THAT(pages_on_nodes(turns, 3 * kPage, 100, kPage),
              ElementsAre(NodePart{0, 100, 0}, NodePart{100, kPage, 1}, NodePart{100 + kPage, 2 * kPage - 100, 0}))
      << "the last page is only begun";
}

TEST(RegionNodesNoted, OfAnyPlacementsFitAnEntryAndAreTheRegion) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const std::uint64_t pages = 1 + random() % 6000, changes = 1 + random() % 800, count = 1 + random() % 5;
    std::vector<int> of_pages;
    int now = 0;
    for (std::uint64_t i = 0; i < pages; ++i) {
      if (random() % pages < changes) now = static_cast<int>(random() % count) - (random() % 10 == 0 ? 1 : 0);
      of_pages.push_back(now);
    }
    const auto nodes = found(pages, [&](std::uint64_t page) { return of_pages[page]; });
    const auto entry = noted(pages, nodes);
    EXPECT_EQ(nodes_of(entry), nodes);
    if (!nodes.known()) continue;
    std::uint64_t all = 0;
    for (const auto& part : pages_on_nodes(nodes, pages * kPage, 1 + random() % kPage, kPage)) {
      EXPECT_EQ(part.begin, all);
      all += part.bytes;
    }
    EXPECT_EQ(all, pages * kPage);
  }
}

TEST(RegionNodesNoted, ThatCannotBeAreNone) {
  const auto read = [](const std::string& key, const segment::AttributeValue& value) {
    segment::RegionEntry entry{1, 1, 8 * kPage};
    entry.attributes[key] = value;
    return nodes_of(entry).runs;
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_THAT(read("nodes", Numbers{0, 8 * kPage}), testing::SizeIs(1));
  EXPECT_THAT(read("nodes", Numbers{0, 8 * kPage - 1}), IsEmpty()) << "less than the region";
  EXPECT_THAT(read("nodes", Numbers{0, 8 * kPage + 1}), IsEmpty()) << "more";
  EXPECT_THAT(read("nodes", Numbers{0, 8 * kPage, 1}), IsEmpty()) << "no pair";
  EXPECT_THAT(read("nodes", Numbers{-1, 8 * kPage}), IsEmpty());
  EXPECT_THAT(read("nodes", Numbers{kMostNodes, 8 * kPage}), IsEmpty());
  EXPECT_THAT(read("nodes", Numbers{0, 0, 0, 8 * kPage}), IsEmpty()) << "an empty run would have no end";
  EXPECT_THAT(read("nodes", std::string("0")), IsEmpty());
  EXPECT_THAT(read("nodes_in_turn", Numbers{0, 0}), IsEmpty());
  EXPECT_THAT(read("nodes_in_turn", Numbers{}), IsEmpty());
  EXPECT_THAT(read("nodes_in_turn", Numbers{0, 1, 1, 1}), testing::SizeIs(2));
}

}  // namespace
}  // namespace perdure::affinity
