#pragma once
// Shrinks a failing scenario while it still fails. Pure: the caller decides whether a scenario fails.
#include <algorithm>
#include <functional>

#include "campaign/scenario_data.hpp"

namespace perdure::campaign {

/// Returns every scenario that is one step smaller. A step removes a launch, an act, a job's node or a job, or resets a
/// field to that of the plainest one. The boldest steps come first; all results can be carried out.
std::vector<Scenario> smaller_ones(const Scenario& scenario);

/// Continues from a smaller scenario that fails, as long as there is one. `smaller` returns the smaller ones; `fails`
/// is called at most `tries` times.
template <class S, class Smaller, class Fails>
S shrink_by(S scenario, const Smaller& smaller, const Fails& fails, int tries) {
  std::size_t begin = 0;  // a step that did not help before rarely helps now, so it is tried last
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
