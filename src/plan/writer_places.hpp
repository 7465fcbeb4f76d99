#pragma once
// Where ranks that wrote a version count as being, in a launch that has another number of ranks. Pure.
// (docs/adr/0036)
#include <cstdint>
#include <vector>

#include "plan/recovery.hpp"

namespace perdure::plan {

/// By rank that wrote: the first node that holds its piece; else the nodes in turn, as many ranks for each. `nodes` >
/// 0.
std::vector<std::uint32_t> place_writers(const PieceHolders& holders, std::uint32_t nodes);

}  // namespace perdure::plan
