#include "redundancy/exposure.hpp"

#include <gtest/gtest.h>

#include "redundancy/registry.hpp"

namespace perdure::redundancy {
namespace {

/// Makes so many racks of so many nodes.
std::vector<Domains> racks(unsigned count, unsigned nodes_each) {
  std::vector<Domains> nodes;
  for (unsigned i = 0; i < count * nodes_each; ++i) nodes.push_back({"rack" + std::to_string(i / nodes_each)});
  return nodes;
}

Exposure of_racks(const char* name, unsigned m, unsigned count, unsigned nodes_each, unsigned size) {
  const Scheme& scheme = **find_scheme(name);
  const auto plan = plan_groups(racks(count, nodes_each), size, group_limits(scheme, m).value()).value();
  const auto exposures = domain_losses(plan, scheme, m);
  EXPECT_EQ(exposures.size(), 1u);
  return exposures[0];
}

TEST(Exposure, WithARackPerMemberNoRackIsFatal) {
  const auto exposure = of_racks("xor", 1, 4, 4, 4);
  EXPECT_EQ(exposure.domains, 4u);
  EXPECT_EQ(exposure.fatal, 0u);
}

TEST(Exposure, TwoMembersInARackAreFatalToOneParityAndNotToTwo) {
  EXPECT_EQ(of_racks("xor", 1, 4, 4, 8).fatal, 4u);
  EXPECT_EQ(of_racks("reed-solomon", 2, 4, 4, 8).fatal, 0u);
}

TEST(Exposure, CopiesInTwoRacksAreKeptApartThoughHalfAGroupIsInOne) {
  EXPECT_EQ(of_racks("buddy", 1, 2, 8, 8).fatal, 0u);
  EXPECT_EQ(of_racks("buddy", 1, 1, 8, 8).fatal, 1u);
}

TEST(Exposure, OnlyWhatWouldLoseDataCounts) {
  std::vector<Domains> nodes = racks(5, 1);
  nodes.push_back({"rack0"});  // two nodes in it, and groups of six
  const Scheme& scheme = **find_scheme("xor");
  const auto plan = plan_groups(nodes, 6, group_limits(scheme, 1).value()).value();
  EXPECT_EQ(domain_losses(plan, scheme, 1)[0].domains, 5u);
  EXPECT_EQ(domain_losses(plan, scheme, 1)[0].fatal, 1u);
}

TEST(Exposure, WithoutNamedDomainsThereIsNothingToSay) {
  const Scheme& scheme = **find_scheme("xor");
  const auto plan = plan_groups(std::vector<Domains>(4), 4, group_limits(scheme, 1).value()).value();
  EXPECT_TRUE(domain_losses(plan, scheme, 1).empty());
}

}  // namespace
}  // namespace perdure::redundancy
