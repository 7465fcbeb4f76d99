#pragma once
// A scenario in small: sizes and throughputs divided alike, so that everything takes as long as before.
#include <string>

#include "simulate/scenario.hpp"

namespace perdure::studies {

/// Chunks, capacities and throughputs divided by `factor` and rounded to whole bytes; times and counts stay.
simulate::Scenario scaled(const simulate::Scenario& scenario, double factor);

/// The file that device::parse_description reads as this node.
std::string description_of(const device::Node& node);

}  // namespace perdure::studies
