#pragma once
// Makes a scenario that fails smaller, while it still fails. Pure: what fails is the caller's to say.
#include <functional>

#include "campaign/scenario_data.hpp"

namespace perdure::campaign {

/// Every scenario that is one step smaller: without a launch, without an act, with a job that has fewer nodes, without
/// a job, or with a field that is as in the plainest one. The boldest come first; all can be carried out.
std::vector<Scenario> smaller_ones(const Scenario& scenario);

/// Goes on from a smaller one that fails as long as there is any, and asks `fails` at most `tries` times.
Scenario shrink(Scenario scenario, const std::function<bool(const Scenario&)>& fails, int tries);

}  // namespace perdure::campaign
