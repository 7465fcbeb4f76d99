#include "process/placement.hpp"

#include <gmock/gmock.h>

namespace perdure::process {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

/// Makes nodes with two cores each, and one hardware thread per core.
MachineImage nodes_numbered(std::vector<std::uint32_t> numbers) {
  MachineImage machine;
  for (unsigned n = 0; n < numbers.size(); ++n) machine.machine.nodes.push_back({{{2 * n}, {2 * n + 1}}, 0});
  machine.numbers = std::move(numbers);
  return machine;
}

ProcessImage on_four_nodes() {
  ProcessImage image;
  image.machine = nodes_numbered({0, 1, 2, 3});
  for (const std::uint32_t cpu : {0U, 2U, 5U}) {
    auto& thread = image.threads.emplace_back();
    thread.number = 100 + static_cast<std::int32_t>(cpu);
    thread.cpus = {cpu};
  }
  image.threads[1].memory_policy = 3;  // interleave
  image.threads[1].memory_nodes = {1, 3};
  image.pages = {{0, {{0x10000, 4}}}, {1, {{0x20000, 4}}}, {2, {{0x30000, 4}}}, {3, {{0x40000, 4}}}};
  for (const char* policy : {"", "bind:2", "local"}) {
    auto& map = image.maps.emplace_back();
    map.begin = 0x10000 * image.maps.size();
    map.end = map.begin + 0x10000;
    map.policy = policy;
  }
  return image;
}

TEST(Placements, OfTheSameMachineAreWhatWas) {
  auto image = on_four_nodes();
  for (const auto& here : {image.machine, MachineImage{}}) {
    auto placement = place(image, here, {});
    EXPECT_THAT(placement.cpus, ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(5)));
    EXPECT_THAT(placement.nodes, UnorderedElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2), Pair(3, 3)));
    EXPECT_TRUE(placement.of_memory);
    apply(placement, image);
    EXPECT_EQ(image.maps[1].policy, "bind:2");
    EXPECT_EQ(image.maps[2].policy, "local");
    EXPECT_THAT(image.threads[1].memory_nodes, ElementsAre(1, 3));
    EXPECT_THAT(placement.notes, IsEmpty());
  }
}

TEST(Placements, OfLessNodesFoldAndSaySo) {
  auto image = on_four_nodes();
  auto placement = place(image, nodes_numbered({0, 8}), {});
  ASSERT_THAT(placement.nodes, testing::SizeIs(4));
  for (const auto& [then, here] : placement.nodes) EXPECT_TRUE(here == 0 || here == 8) << then;
  EXPECT_THAT(placement.notes, testing::Contains(HasSubstr("this machine is another one: nodes ")));
  apply(placement, image);
  EXPECT_EQ(image.maps[1].policy, "bind:" + std::to_string(placement.nodes[2]));
  EXPECT_EQ(image.threads[1].memory_policy, 3);
  for (const auto node : image.threads[1].memory_nodes) EXPECT_TRUE(node == 0 || node == 8);
  for (std::size_t t = 0; t < 3; ++t) {
    ASSERT_THAT(image.threads[t].cpus, testing::SizeIs(1));
    EXPECT_EQ(image.threads[t].cpus[0] / 2, placement.nodes[static_cast<std::uint32_t>(t)] / 8) << "with its pages";
  }
}

TEST(Placements, BringBackWhatIsChosen) {
  const auto placed = [](AffinityMode mode) {
    auto image = on_four_nodes();
    auto placement = place(image, image.machine, {mode});
    apply(placement, image);
    return std::pair(image, placement.of_memory);
  };
  const auto [cores, cores_memory] = placed(AffinityMode::cores);
  EXPECT_THAT(cores.threads[2].cpus, ElementsAre(5));
  EXPECT_FALSE(cores_memory);
  EXPECT_EQ(cores.threads[1].memory_policy, 0);
  EXPECT_EQ(cores.maps[1].policy, "");
  const auto [pages, pages_memory] = placed(AffinityMode::pages);
  EXPECT_THAT(pages.threads[2].cpus, IsEmpty());
  EXPECT_TRUE(pages_memory);
  EXPECT_EQ(pages.maps[1].policy, "bind:2");
  const auto [none, none_memory] = placed(AffinityMode::none);
  EXPECT_THAT(none.threads[2].cpus, IsEmpty());
  EXPECT_FALSE(none_memory);
  const auto [reset, reset_memory] = placed(AffinityMode::reset);
  EXPECT_THAT(reset.threads[2].cpus, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_FALSE(reset_memory);
}

TEST(Placements, OfPoliciesWithoutAnyOfTheirNodesSaySo) {
  auto image = on_four_nodes();
  image.maps[0].policy = "bind:9";
  image.maps[1].policy = "bound:1";
  auto placement = place(image, image.machine, {});
  apply(placement, image);
  EXPECT_EQ(image.maps[0].policy, "");
  EXPECT_EQ(image.maps[1].policy, "");
  EXPECT_THAT(placement.notes, ElementsAre("2 policies of memory name nodes that are not here: left out"));
}

TEST(Placements, HaveTheModesOfTheOption) {
  EXPECT_EQ(affinity_mode("keep"), AffinityMode::keep);
  EXPECT_EQ(affinity_mode("reset"), AffinityMode::reset);
  EXPECT_EQ(affinity_mode("kept"), std::nullopt);
}

TEST(Placements, OfNodesWithoutThreadsAreWrittenLast) {
  auto image = on_four_nodes();
  image.threads[0].cpus = {6};
  image.pages.push_back({7, {{0x50000, 1}}});  // not known
  put_orphans_last(image);
  std::vector<std::uint32_t> order;
  for (const auto& node : image.pages) order.push_back(node.node);
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 0, 7));
}

}  // namespace
}  // namespace perdure::process
