#pragma once
// Compares two drivers on the same scaled scenarios: how far the simulator is from the real engine.
#include <string>

#include "study.hpp"

namespace perdure::studies {

/// Simulates, for every row of another driver, the same scenario and policy with the same seed and size scale.
base::Result<std::vector<Row>> simulate_beside(const device::Node& node, const std::vector<Row>& rows);

/// Returns the relative error of the simulator's medians, of local phase and flush completion, by cell and policy. Then
/// come the means and the worst of each policy.
std::string comparison_table(const std::vector<Row>& real, const std::vector<Row>& simulated);

/// Describes runs without figures and their errors; each error once. Empty if there are none.
std::string errors_text(const std::vector<Row>& rows);

/// Returns the simulated median of a figure, divided by the real one, less 1. NaN if one is missing.
double relative_error(const Medians& real, const Medians& simulated, const Cell& cell, const std::string& policy,
                      const Figure& figure);

}  // namespace perdure::studies
