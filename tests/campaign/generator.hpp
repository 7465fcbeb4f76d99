#pragma once
// Draws a scenario from a seed; it depends on nothing else.
#include "campaign/scenario_data.hpp"

namespace perdure::campaign {

Scenario draw_scenario(unsigned seed);
/// Draws one job whose arrays move to other numbers of ranks, with one failure at most.
Scenario draw_elastic(unsigned seed);

}  // namespace perdure::campaign
