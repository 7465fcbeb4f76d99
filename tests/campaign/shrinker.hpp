#pragma once
// Makes a scenario that fails smaller, while it still fails. Pure: what fails is the caller's to say.
#include <algorithm>
#include <functional>

#include "campaign/scenario_data.hpp"

namespace perdure::campaign {

/// Every scenario that is one step smaller: without a launch, without an act, with a job that has fewer nodes, without
/// a job, or with a field that is as in the plainest one. The boldest come first; all can be carried out.
std::vector<Scenario> smaller_ones(const Scenario& scenario);

/// Goes on from a smaller one (`smaller` has all of them) that fails as long as there is any, and asks `fails` at most
/// `tries` times.
template <class S, class Smaller, class Fails>
S shrink_by(S scenario, const Smaller& smaller, const Fails& fails, int tries) {
  std::size_t begin = 0;  // what did not help before rarely helps now: it comes again after the rest
  auto ones = smaller(scenario);
  for (std::size_t without_success = 0; tries > 0 && without_success < ones.size(); --tries) {
    const S& next = ones[begin % ones.size()];
    if (fails(next)) {
      scenario = S(next);
      ones = smaller(scenario);
      without_success = 0;
      begin %= std::max<std::size_t>(ones.size(), 1);
    } else {
      ++begin;
      ++without_success;
    }
  }
  return scenario;
}
Scenario shrink(Scenario scenario, const std::function<bool(const Scenario&)>& fails, int tries);

}  // namespace perdure::campaign
