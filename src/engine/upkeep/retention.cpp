#include "engine/upkeep/retention.hpp"

#include <algorithm>
#include <map>

namespace perdure::engine {

RetentionDecision decide_retention(const plan::RetentionPolicy& policy, const std::vector<JudgedListing>& listings) {
  RetentionDecision decision;
  for (const auto& listing : listings)
    if (listing.complete && decision.newest.attempt < listing.id.attempt) decision.newest = listing.id;
  const segment::Attempt newest = decision.newest.attempt;
  std::map<std::uint64_t, std::vector<JudgedListing>> by_version;
  for (const auto& listing : listings) {
    if (!listing.complete && listing.id.attempt > newest) {
      decision.unfinished = decision.unfinished || !listing.damaged;
      continue;
    }
    by_version[listing.id.version].push_back(listing);
  }
  std::vector<plan::StoredVersion> versions;
  for (auto& [version, attempts] : by_version) {
    std::sort(attempts.begin(), attempts.end(), [](const auto& a, const auto& b) {
      return a.complete != b.complete ? a.complete : a.id.attempt > b.id.attempt;
    });
    // The best attempt stands for the version; the others are leftovers once it is complete.
    if (attempts.front().complete)
      for (std::size_t i = 1; i < attempts.size(); ++i) decision.remove.push_back(attempts[i].id);
    versions.push_back({version, attempts.front().complete, attempts.front().id.attempt.created_ns});
  }
  for (std::uint64_t version : plan::retire(policy, versions)) {
    for (const auto& attempt : by_version[version]) {
      const bool listed =
          std::find(decision.remove.begin(), decision.remove.end(), attempt.id) != decision.remove.end();
      if (!listed && attempt.id.attempt != newest) decision.remove.push_back(attempt.id);
    }
  }
  return decision;
}

}  // namespace perdure::engine
