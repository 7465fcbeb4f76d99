#include "engine/upkeep/retention.hpp"

#include <algorithm>

namespace perdure::engine {

RetentionDecision decide_retention(const plan::RetentionPolicy& policy, const std::vector<JudgedListing>& listings) {
  RetentionDecision decision;
  plan::RetentionPolicy arriving = policy;
  arriving.may_arrive = true;
  std::vector<plan::StoredVersion> stored;
  for (const auto& [id, complete, damaged] : listings) {
    if (complete && decision.newest.attempt < id.attempt) decision.newest = id;
    stored.push_back({id.version, complete, id.attempt.created_ns});
  }
  const auto given_up = plan::retire(arriving, stored);
  for (std::size_t i = 0; i < listings.size(); ++i) {
    const auto& [id, complete, damaged] = listings[i];
    if (std::binary_search(given_up.begin(), given_up.end(), i) && id != decision.newest)
      decision.remove.push_back(id);
    else if (!complete && !damaged)
      (id.attempt > decision.newest.attempt ? decision.unfinished : decision.late) = true;
  }
  return decision;
}

}  // namespace perdure::engine
