#include "session/nodes.hpp"

#include <gtest/gtest.h>

#include "os/system.hpp"
#include "support/thread_group.hpp"

namespace perdure::session {
namespace {

using Numbers = std::vector<std::uint32_t>;

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
  }
}

}  // namespace
}  // namespace perdure::session
