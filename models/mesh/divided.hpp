#pragma once
// Chooses the grid of parts for a block. Pure.
#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "mesh/division.hpp"

namespace perdure::mesh {

/// Returns the grid with the smallest cuts for cells 0 to before `cells[d]` in 1 to 3 dimensions. Each part has at
/// least `least` cells in each dimension, because neighbours exchange that many. Error: no grid of `ranks` parts
/// satisfies that.
tl::expected<Division, std::string> divided(std::span<const std::int64_t> cells, int ranks, std::int64_t least);

}  // namespace perdure::mesh
