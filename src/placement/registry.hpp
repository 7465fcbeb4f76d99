#pragma once
// Lists the placement policies. A new one is one function and a line in registry.cpp, which also enrols it in
// conformance_test.cpp. The function has a file of its own, or is short and in policies.cpp.
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "placement/decision.hpp"

namespace perdure::placement {

struct Policy {
  const char* name;
  const char* summary;
  /// Places the next chunk. Pure, never blocks, bounded by tiers times waiting producers. Takes a tier only if it has a
  /// free slot, and a failed one only as the last resort. Waits only while a tier has slots to come.
  Decision (*decide)(const View& view);
};

const std::vector<Policy>& policies();

/// PERDURE_INVALID_ARGUMENT names the existing policies.
base::Result<const Policy*> find_policy(std::string_view name);

Decision decide_cache_only(const View& view);
Decision decide_ssd_only(const View& view);
Decision decide_hybrid_naive(const View& view);
Decision decide_hybrid_opt(const View& view);
Decision decide_adaptive(const View& view);

}  // namespace perdure::placement
