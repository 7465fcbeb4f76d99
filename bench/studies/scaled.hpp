#pragma once
// Scales a scenario down: divides sizes and throughputs alike, so that all times stay the same.
#include <string>

#include "simulate/scenario.hpp"

namespace perdure::studies {

/// Divides chunks, capacities and throughputs by `factor` and rounds them to whole bytes; times and counts stay.
simulate::Scenario scaled(const simulate::Scenario& scenario, double factor);

/// Returns the file that device::parse_description reads as this node.
std::string description_of(const device::Node& node);

}  // namespace perdure::studies
