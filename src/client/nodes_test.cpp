// Ranks with equal labels share a node, and its lowest rank leads it.
#include "client/nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "os/system.hpp"
#include "support/thread_group.hpp"

namespace perdure::client {
namespace {

using Numbers = std::vector<std::uint32_t>;

Nodes number_nodes(const std::vector<std::string>& labels, int rank) {
  std::vector<std::uint64_t> hashes;
  for (const auto& label : labels) hashes.push_back(label_hash(label));
  return client::number_nodes(hashes, rank);
}

TEST(NumberNodes, EqualLabelsAreOneNodeNumberedByFirstAppearance) {
  const Nodes nodes = number_nodes({"b", "a", "b", "c", "a"}, 4);
  EXPECT_EQ(nodes.node_of_rank, (Numbers{0, 1, 0, 2, 1}));
  EXPECT_EQ(nodes.mine, 1U);
  EXPECT_EQ(nodes.leader, 1);
  EXPECT_FALSE(nodes.first());
}

TEST(NumberNodes, TheLowestRankOfANodeLeadsIt) {
  const std::vector<std::string> labels = {"x", "y", "y", "x"};
  const int leaders[] = {0, 1, 1, 0};
  for (int rank = 0; rank < 4; ++rank) {
    const Nodes nodes = number_nodes(labels, rank);
    EXPECT_EQ(nodes.leader, leaders[rank]);
    EXPECT_EQ(nodes.first(), leaders[rank] == 0);
  }
}

TEST(NumberNodes, ALaunchIsKnownByItsNodesWhateverRunsOnThemAndInWhichOrder) {
  const Nodes nodes = number_nodes({"b", "a", "b", "c"}, 0);
  EXPECT_EQ(nodes.hashes.size(), 3U);
  EXPECT_TRUE(std::is_sorted(nodes.hashes.begin(), nodes.hashes.end()));
  EXPECT_EQ(number_nodes({"c", "a", "a", "b"}, 3).launch, nodes.launch);
  EXPECT_NE(number_nodes({"b", "a", "d"}, 0).launch, nodes.launch);
  EXPECT_NE(number_nodes({"b", "a"}, 0).launch, nodes.launch);
}

TEST(NumberNodes, ASingleRankIsANodeOfItsOwn) {
  const Nodes nodes = number_nodes({"only"}, 0);
  EXPECT_EQ(nodes.node_of_rank, Numbers{0});
  EXPECT_EQ(nodes.leader, 0);
}

TEST(NodeLabel, IsTheHostUnlessNodesAreSimulated) {
  config::Config config;
  EXPECT_EQ(node_label(config, 0), os::host_name());
  EXPECT_EQ(node_label(config, 5), node_label(config, 0));
  ASSERT_TRUE(config.set("node.ranks_per_node", "2", config::Origin::program));
  EXPECT_EQ(node_label(config, 0), node_label(config, 1));
  EXPECT_NE(node_label(config, 1), node_label(config, 2));
  EXPECT_EQ(node_label(config, 4), node_label(config, 5));
}

TEST(SimulatedNode, IsTheRanksShareOfTheNumbers) {
  const Numbers numbers = {0, 1, 4, 3};
  for (std::uint64_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(simulated_node({}, 2, rank), rank / 2);
    EXPECT_EQ(simulated_node(numbers, 2, rank), numbers[rank / 2]);
  }
  EXPECT_EQ(simulated_node(numbers, 2, 8), std::nullopt);
  EXPECT_EQ(simulated_node(numbers, 3, 8), 4U);
  EXPECT_EQ(simulated_node({}, 2, 1000), 500U);
}

TEST(NodeLabel, HasTheNumberThatNodeNumbersGives) {
  config::Config config;
  ASSERT_TRUE(config.set("node.ranks_per_node", "2", config::Origin::program));
  ASSERT_TRUE(config.set("node.numbers", "7,0", config::Origin::environment));
  EXPECT_EQ(node_label(config, 1), os::host_name() + "#7");
  EXPECT_EQ(node_label(config, 2), os::host_name() + "#0");
  EXPECT_EQ(node_label(config, 4), "");
  ASSERT_TRUE(config.set("node.ranks_per_node", "0", config::Origin::environment));
  EXPECT_EQ(node_label(config, 4), os::host_name()) << "only simulated nodes have numbers";
}

TEST(FindNodes, AllRanksHearThatThereAreTooFewNumbers) {
  test_support::ThreadGroup group(5);
  std::vector<std::string> errors(5);
  group.run([&](const perdure_communicator& c) {
    auto comm = comm::make_from_c(c).value();
    config::Config config;
    (void)config.set("node.ranks_per_node", "2", config::Origin::program);
    (void)config.set("node.numbers", "0,3", config::Origin::program);
    const auto found = find_nodes(*comm, node_label(config, c.rank));
    if (!found) errors[static_cast<std::size_t>(c.rank)] = found.error().text();
  });
  for (const auto& error : errors) {
    EXPECT_NE(error.find("node.numbers"), std::string::npos) << error;
    EXPECT_NE(error.find("no node for rank 4 of 5 ranks"), std::string::npos) << error;
  }
}

TEST(FindNodes, AllRanksSeeTheSameNodes) {
  test_support::ThreadGroup group(5);
  std::vector<Nodes> found(5);
  group.run([&](const perdure_communicator& c) {
    auto comm = comm::make_from_c(c).value();
    config::Config config;
    (void)config.set("node.ranks_per_node", "2", config::Origin::program);
    found[static_cast<std::size_t>(c.rank)] = find_nodes(*comm, node_label(config, c.rank)).value();
  });
  for (std::size_t rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(found[rank].node_of_rank, (Numbers{0, 0, 1, 1, 2}));
    EXPECT_EQ(found[rank].mine, rank / 2);
    EXPECT_EQ(found[rank].leader, static_cast<int>(rank / 2 * 2));
    EXPECT_EQ(found[rank].labels,
              (std::vector<std::string>{os::host_name() + "#0", os::host_name() + "#1", os::host_name() + "#2"}));
  }
}

}  // namespace
}  // namespace perdure::client
