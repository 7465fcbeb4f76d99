#pragma once
// Computes the cost of losing a whole failure domain, for reports about a plan of groups.
#include <cstdint>
#include <vector>

#include "redundancy/groups.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::redundancy {

/// The exposure at one level of domains.
struct Exposure {
  std::uint64_t domains = 0;  ///< how many there are
  std::uint64_t fatal = 0;    ///< how many of them would lose data if they alone were lost with all their nodes
};

/// Returns it by level, innermost first. A group's parity server is outside of these domains, and counts as alive.
std::vector<Exposure> domain_losses(const GroupPlan& plan, const Scheme& scheme, unsigned m);

}  // namespace perdure::redundancy
