#pragma once
// Draws a scenario: it follows from the seed alone.
#include "campaign/scenario_data.hpp"

namespace perdure::campaign {

Scenario draw_scenario(unsigned seed);
/// One job whose arrays go from one number of ranks to others, with one failure at most.
Scenario draw_elastic(unsigned seed);

}  // namespace perdure::campaign
