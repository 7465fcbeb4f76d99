#pragma once
// Two drivers on the same scaled scenarios: how far the simulator is from the real engine.
#include <string>

#include "study.hpp"

namespace perdure::studies {

/// For every row of another driver, what the simulator says of the same scenario and policy with the same seed and size
/// scale.
base::Result<std::vector<Row>> simulate_beside(const device::Node& node, const std::vector<Row>& rows);

/// Relative error of the simulator's medians, of local phase and flush completion, by cell and policy; then the means
/// and the worst of each policy.
std::string comparison_table(const std::vector<Row>& real, const std::vector<Row>& simulated);

/// Runs that have no figures, and why; each error once. Empty when there are none.
std::string errors_text(const std::vector<Row>& rows);

/// The median of a figure that is simulated, divided by the real one, less 1. Not a number where one is missing.
double relative_error(const Medians& real, const Medians& simulated, const Cell& cell, const std::string& policy,
                      const Figure& figure);

}  // namespace perdure::studies
