#pragma once
// What the loss of a whole failure domain would cost, for people who look at a plan before they trust it.
#include <cstdint>
#include <vector>

#include "redundancy/groups.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::redundancy {

/// Of one level of domains.
struct Exposure {
  std::uint64_t domains = 0;  ///< so many there are
  std::uint64_t fatal = 0;    ///< of which so many, each lost alone with all its nodes, would take data with them
};

/// By level, innermost first. A group's parity server is none of its domains' business: it counts as alive.
std::vector<Exposure> domain_losses(const GroupPlan& plan, const Scheme& scheme, unsigned m);

}  // namespace perdure::redundancy
