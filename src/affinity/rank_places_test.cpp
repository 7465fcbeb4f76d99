#include "affinity/rank_places.hpp"

#include <gmock/gmock.h>

namespace perdure::affinity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// Makes so many nodes, each with so many cores.
MachineImage machine(std::uint32_t nodes, std::uint32_t cores) {
  MachineImage image;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    image.numbers.push_back(n);
    image.machine.nodes.emplace_back();
    for (std::uint32_t c = 0; c < cores; ++c) image.machine.nodes.back().cores.push_back({n * cores + c});
  }
  return image;
}

std::vector<segment::RegionEntry> entries(std::size_t count) {
  std::vector<segment::RegionEntry> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back({static_cast<std::int32_t>(i), 1, 1 << 20});
  return list;
}

TEST(RankPlacesNoted, ComeBackFromTheFirstEntryThatHasRoom) {
  const RankPlaces places{machine(2, 2), {0, 1}, {{4, {1}}, {9, {2, 3}}}};
  auto list = entries(2);
  for (int i = 0; i < 64; ++i) list[0].attributes["full." + std::to_string(i)] = true;
  ASSERT_TRUE(note(places, list));
  EXPECT_EQ(list[0].attributes.size(), 64U);
  EXPECT_EQ(places_of(list), places);
  list.pop_back();
  EXPECT_FALSE(note(places, list)) << "no room";
  EXPECT_EQ(places_of(list), std::nullopt);
  list.clear();
  EXPECT_FALSE(note(places, list)) << "nothing to go with";
}

TEST(RankPlacesNoted, OfALargeMachineTakeSeveralAttributes) {
  const RankPlaces places{machine(8, 112), {7}, {}};
  auto list = entries(1);
  ASSERT_TRUE(note(places, list));
  EXPECT_GT(list[0].attributes.size(), 1U);
  EXPECT_EQ(places_of(list), places);
  EXPECT_FALSE(note({machine(256, 256), {}, {}}, list)) << "more than a note may be";
}

TEST(RankPlacesNoted, ThatCannotBeAreNone) {
  const auto noted = [](const RankPlaces& places) {
    auto list = entries(1);
    EXPECT_TRUE(note(places, list));
    return places_of(list);
  };
  const RankPlaces good{machine(2, 1), {0}, {{0, {0}}}};
  ASSERT_TRUE(noted(good));
  auto places = good;
  places.machine.numbers = {1, 0};
  EXPECT_EQ(noted(places), std::nullopt);
  places = good;
  places.threads[0].cpus = {os::CpuSet::kMost};
  EXPECT_EQ(noted(places), std::nullopt);
  places.threads[0].cpus = {1, 0};
  EXPECT_EQ(noted(places), std::nullopt);
  places = good;
  places.cpus = {os::CpuSet::kMost};
  EXPECT_EQ(noted(places), std::nullopt);
  auto list = entries(1);
  list[0].attributes["places.0"] = std::vector<std::byte>(10, std::byte{0xff});
  EXPECT_EQ(places_of(list), std::nullopt);
  list[0].attributes["places.0"] = std::string("text");
  EXPECT_EQ(places_of(list), std::nullopt);
}

TEST(RankPlaces, OnTheSameMachineAreTheSame) {
  const auto here = places_here({machine(4, 2), {0, 1, 2, 3, 4, 5, 6, 7}, {{1, {5}}}}, {{0, 1}, {3, 1}}, machine(4, 2),
                                {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(here.nodes, ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2), Pair(3, 3)));
  EXPECT_THAT(here.threads, ElementsAre(Pair(1, plan::Cpus{5})));
}

TEST(RankPlaces, OfAProgramThatBindsItsThreadsItselfAreTheSameWhereverTheFirstOneIs) {
  // One thread of many asks: its place on node 0 says nothing about the others.
  const auto here = places_here({machine(4, 2), {0, 1, 2, 3, 4, 5, 6, 7}, {}}, {{0, 1}, {3, 1}}, machine(4, 2), {0});
  EXPECT_THAT(here.nodes, ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2), Pair(3, 3)));
}

TEST(RankPlaces, OfARankThatALauncherPutElsewhereAreNearItAgain) {
  const RankPlaces then{machine(4, 2), {0, 1, 2, 3}, {{7, {3}}}};  // on nodes 0 and 1
  const auto here = places_here(then, {{0, 5}, {1, 5}, {3, 1}}, machine(4, 2), {4, 5, 6, 7});
  EXPECT_NE(here.nodes.at(0), here.nodes.at(1));
  EXPECT_GE(here.nodes.at(0), 2U);
  EXPECT_GE(here.nodes.at(1), 2U);
  EXPECT_EQ(here.nodes.at(3), 3U) << "it was not near";
  ASSERT_THAT(here.threads.at(7), testing::SizeIs(1));
  EXPECT_EQ(here.threads.at(7)[0] / 2, here.nodes.at(1)) << "beside its pages";
}

TEST(RankPlaces, OfASmallerMachineGoTogether) {
  const auto here = places_here({machine(4, 1), {0, 1, 2, 3}, {{0, {0}}, {1, {3}}}}, {{0, 1}, {1, 1}, {2, 1}, {3, 1}},
                                machine(2, 2), {0, 1, 2, 3});
  EXPECT_THAT(here.nodes, testing::SizeIs(4));
  EXPECT_EQ(here.threads.at(0)[0] / 2, here.nodes.at(0));
  EXPECT_EQ(here.threads.at(1)[0] / 2, here.nodes.at(3));
}

TEST(RankPlaces, OfAMachineThatIsNotKnownAreNone) {
  EXPECT_THAT(places_here({{}, {0}, {{0, {0}}}}, {{0, 1}}, machine(2, 1), {0}).nodes, IsEmpty());
  EXPECT_THAT(places_here({machine(2, 1), {0}, {{0, {0}}}}, {{0, 1}}, {}, {0}).threads, IsEmpty());
}

}  // namespace
}  // namespace perdure::affinity
