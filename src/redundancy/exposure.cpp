#include "redundancy/exposure.hpp"

#include <algorithm>
#include <map>

namespace perdure::redundancy {

std::vector<Exposure> domain_losses(const GroupPlan& plan, const Scheme& scheme, unsigned m) {
  std::vector<Exposure> exposures;
  for (const std::vector<std::uint32_t>& domain : plan.domains) {
    std::vector<bool> fatal(domain.empty() ? 0 : *std::max_element(domain.begin(), domain.end()) + 1);
    for (const std::vector<std::uint32_t>& group : plan.groups) {
      std::map<std::uint32_t, Positions> members;
      for (std::size_t position = 0; position < group.size(); ++position)
        members[domain[group[position]]].set(position);
      for (const auto& [which, lost] : members)
        if (!scheme.survives(static_cast<unsigned>(group.size()), m, lost)) fatal[which] = true;
    }
    exposures.push_back({fatal.size(), static_cast<std::uint64_t>(std::count(fatal.begin(), fatal.end(), true))});
  }
  return exposures;
}

}  // namespace perdure::redundancy
