#include "plan/retention.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace perdure::plan {

std::vector<std::uint64_t> retire(const RetentionPolicy& policy, const std::vector<StoredVersion>& stored) {
  std::map<std::uint64_t, StoredVersion> versions;
  for (const StoredVersion& one : stored) {
    StoredVersion& best = versions.try_emplace(one.version, one).first->second;
    if (std::pair(best.complete, best.begun_ns) < std::pair(one.complete, one.begun_ns)) best = one;
  }
  std::vector<StoredVersion> newest_first;
  for (const auto& [version, one] : versions) newest_first.push_back(one);
  std::sort(newest_first.begin(), newest_first.end(), [](const StoredVersion& a, const StoredVersion& b) {
    return std::pair(a.begun_ns, a.version) > std::pair(b.begun_ns, b.version);
  });

  const std::uint64_t keep_last = std::max<std::uint64_t>(policy.keep_last, 1);
  std::uint64_t complete_seen = 0;
  std::vector<std::uint64_t> given_up;
  for (const auto& [version, is_complete, begun_ns] : newest_first) {
    if (!is_complete) {
      if (complete_seen > 0) given_up.push_back(version);
      continue;
    }
    const bool among_newest = complete_seen++ < keep_last;
    const bool landmark = policy.keep_every > 0 && version % policy.keep_every == 0;
    if (!among_newest && !landmark) given_up.push_back(version);
  }
  std::sort(given_up.begin(), given_up.end());
  return given_up;
}

}  // namespace perdure::plan
