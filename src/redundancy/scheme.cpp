#include "redundancy/scheme.hpp"

#include <algorithm>

namespace perdure::redundancy {

unsigned parities(const Scheme& scheme, unsigned configured) {
  return scheme.min_parities == scheme.max_parities ? scheme.min_parities : configured;
}

base::Result<GroupLimits> group_limits(const Scheme& scheme, unsigned m) {
  if (m < scheme.min_parities || m > scheme.max_parities) {
    const std::string range = scheme.min_parities == scheme.max_parities
                                  ? std::to_string(scheme.max_parities)
                                  : std::to_string(scheme.min_parities) + " to " + std::to_string(scheme.max_parities);
    return base::fail(PERDURE_INVALID_ARGUMENT, "redundancy scheme " + std::string(scheme.name),
                      "it cannot have " + std::to_string(m) + " parities", "choose " + range);
  }
  const bool chosen = scheme.min_parities != scheme.max_parities;
  return GroupLimits{scheme.name, chosen ? std::max(scheme.min_size, m + 1) : scheme.min_size, scheme.max_size};
}

}  // namespace perdure::redundancy
