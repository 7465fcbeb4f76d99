#pragma once
// The family of placement policies. A new one is a file with one function and a line in registry.cpp, which enrols it
// in conformance_test.cpp too.
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "placement/decision.hpp"

namespace perdure::placement {

struct Policy {
  const char* name;
  const char* summary;
  /// Where the next chunk goes. Pure, never blocks, bounded by tiers times waiting producers. Takes a tier only when it
  /// has a free slot, a failed one only as the last resort, and waits only while a tier has slots to come.
  Decision (*decide)(const View& view);
};

const std::vector<Policy>& policies();

/// Error: PERDURE_INVALID_ARGUMENT, which names those there are.
base::Result<const Policy*> find_policy(std::string_view name);

Decision decide_cache_only(const View& view);
Decision decide_ssd_only(const View& view);
Decision decide_hybrid_naive(const View& view);
Decision decide_hybrid_opt(const View& view);
Decision decide_adaptive(const View& view);

}  // namespace perdure::placement
