// The topology file names the failure domains of every node.
#include "client/topology.hpp"

#include <gtest/gtest.h>

namespace perdure::client {
namespace {

TEST(Topology, NamesTheDomainsOfEveryNode) {
  const auto topology = parse_topology("# node chassis rack\nn1 c1 r1\n\nn2 c1 r1 # beside it\nn3 c2 r1\n", "t");
  ASSERT_TRUE(topology) << topology.error().text();
  const auto domains = domains_of(*topology, {"n3", "n1"});
  ASSERT_TRUE(domains);
  EXPECT_EQ(*domains, (std::vector<redundancy::Domains>{{"c2", "r1"}, {"c1", "r1"}}));
}

TEST(Topology, SimulatedNodesHaveTheMarkOfAComment) {
  const auto topology = parse_topology("host#0 c1 #one\nhost#1 c2 # two\n#host#2 c3\n", "t");
  ASSERT_TRUE(topology) << topology.error().text();
  EXPECT_EQ(*domains_of(*topology, {"host#1", "host#0"}), (std::vector<redundancy::Domains>{{"c2"}, {"c1"}}));
  EXPECT_EQ(topology->size(), 2U);
}

TEST(Topology, WithoutAFileNodesAreInNoDomains) {
  const auto topology = share_topology(*comm::make_solo(), "");
  ASSERT_TRUE(topology);
  EXPECT_EQ(*domains_of(*topology, {"a", "b"}), (std::vector<redundancy::Domains>{{}, {}}));
}

TEST(Topology, WhatIsWrongIsNamedWithItsLine) {
  for (const auto& [text, line] : std::map<std::string, std::string>{
           {"n1 c1\nn2\n", "t, line 2"}, {"n1 c1\nn2 c1 r1\n", "t, line 2"}, {"n1 c1\n#\nn1 c2\n", "t, line 3"}}) {
    const auto refused = parse_topology(text, "t");
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().object, line);
    EXPECT_NE(refused.error().remedy, "");
  }
}

TEST(Topology, ANodeThatIsNotInItIsRefused) {
  const auto refused = domains_of(*parse_topology("n1 c1", "t"), {"n1", "n2"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().object, "node n2");
}

TEST(Topology, AFileThatCannotBeReadIsNamed) {
  const auto refused = share_topology(*comm::make_solo(), "/nonexistent/topology");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().object, "/nonexistent/topology");
}

}  // namespace
}  // namespace perdure::client
