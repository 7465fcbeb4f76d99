#include "plan/retention.hpp"

#include <algorithm>
#include <map>

namespace perdure::plan {

std::vector<std::uint64_t> retire(const RetentionPolicy& policy, const std::vector<StoredVersion>& stored) {
  std::map<std::uint64_t, bool> complete;
  for (const auto& [version, is_complete] : stored) complete[version] |= is_complete;

  const std::uint64_t keep_last = std::max<std::uint64_t>(policy.keep_last, 1);
  std::uint64_t complete_seen = 0;
  std::vector<std::uint64_t> given_up;
  for (auto it = complete.rbegin(); it != complete.rend(); ++it) {
    const auto [version, is_complete] = *it;
    if (!is_complete) {
      if (complete_seen > 0) given_up.push_back(version);
      continue;
    }
    const bool among_newest = complete_seen++ < keep_last;
    const bool landmark = policy.keep_every > 0 && version % policy.keep_every == 0;
    if (!among_newest && !landmark) given_up.push_back(version);
  }
  std::reverse(given_up.begin(), given_up.end());
  return given_up;
}

}  // namespace perdure::plan
