#include "engine/upkeep/retention.hpp"

#include <algorithm>

namespace perdure::engine {

RetentionDecision decide_retention(const plan::RetentionPolicy& policy, const std::vector<JudgedListing>& listings,
                                   const std::vector<plan::Fork>& forks, const std::vector<segment::VersionId>& aside) {
  RetentionDecision decision;
  plan::RetentionPolicy arriving = policy;
  arriving.may_arrive = true;
  arriving.other_runs = false;
  std::vector<plan::StoredVersion> stored;
  for (const auto& [id, complete, damaged, present] : listings) {
    if (complete && decision.newest.attempt < id.attempt) decision.newest = id;
    const plan::Branch branch = plan::branch_of(id.attempt.nonce);
    stored.push_back({id.version, complete, id.attempt.created_ns, branch, damaged || present});
  }
  for (const auto& id : aside)  // after all listings
    stored.push_back({id.version, false, id.attempt.created_ns, plan::branch_of(id.attempt.nonce), true});
  const auto given_up = plan::retire(arriving, stored, forks);
  const plan::Branch current = plan::current_branch(stored);
  for (std::size_t i = 0; i < listings.size(); ++i) {
    const auto& [id, complete, damaged, present] = listings[i];
    if (std::binary_search(given_up.begin(), given_up.end(), i) && id != decision.newest)
      decision.remove.push_back(id);
    else if (complete || damaged)
      continue;
    else if (id.attempt > decision.newest.attempt)
      decision.unfinished = true;
    else if (plan::related(forks, stored[i].branch, current))
      decision.late = true;
  }
  return decision;
}

}  // namespace perdure::engine
