#pragma once
// Draws a scenario: it follows from the seed alone.
#include "campaign/scenario_data.hpp"

namespace perdure::campaign {

Scenario draw_scenario(unsigned seed);

}  // namespace perdure::campaign
