#include "plan/lease.hpp"

namespace perdure::plan {

LeaseVerdict judge_lease(const LeaseFacts& facts) {
  if (!facts.owned || facts.ours) return LeaseVerdict::take;
  if (facts.same_machine && !facts.process_lives) return LeaseVerdict::take;
  if (facts.renewed) return LeaseVerdict::busy;
  if (facts.watched_ns < facts.lease_ns) return LeaseVerdict::wait;
  return facts.same_machine ? LeaseVerdict::busy : LeaseVerdict::take;
}

}  // namespace perdure::plan
