#pragma once
// The grid of parts that suits a block. Pure.
#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "mesh/division.hpp"

namespace perdure::mesh {

/// Cells 0 to before `cells[d]` in 1 to 3 dimensions: the grid whose cuts are the smallest. Each part has `least` cells
/// or more in each dimension, as neighbours exchange so many. Error: no grid of so many ranks has that.
tl::expected<Division, std::string> divided(std::span<const std::int64_t> cells, int ranks, std::int64_t least);

}  // namespace perdure::mesh
