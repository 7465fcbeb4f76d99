#include "placement/registry.hpp"

#include <algorithm>
#include <string>

namespace perdure::placement {

const std::vector<Policy>& policies() {
  static const std::vector<Policy> kPolicies = {
      {"cache-only", "the first tier only", decide_cache_only},
      {"ssd-only", "the last tier only", decide_ssd_only},
      {"hybrid-naive", "the first tier with room", decide_hybrid_naive},
      {"hybrid-opt", "the fastest predicted tier, or wait when flushes are faster (VeloC)", decide_hybrid_opt},
      {"adaptive", "the earliest predicted end of the whole checkpoint", decide_adaptive},
  };
  return kPolicies;
}

base::Result<const Policy*> find_policy(std::string_view name) {
  std::string known;
  for (const Policy& policy : policies()) {
    if (policy.name == name) return &policy;
    known += (known.empty() ? "" : ", ") + std::string(policy.name);
  }
  return base::fail(PERDURE_INVALID_ARGUMENT, "policy '" + std::string(name.substr(0, 100)) + "'",
                    "is not one of " + known);
}

}  // namespace perdure::placement
