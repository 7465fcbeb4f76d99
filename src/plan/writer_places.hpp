#pragma once
// Places the ranks that wrote a version on nodes of a launch with another number of ranks. Pure. (docs/adr/0036)
#include <cstdint>
#include <vector>

#include "plan/recovery.hpp"

namespace perdure::plan {

/// By rank that wrote: the first node that holds its piece; otherwise the nodes in turn, equally many ranks for each.
/// `nodes` > 0.
std::vector<std::uint32_t> place_writers(const PieceHolders& holders, std::uint32_t nodes);

}  // namespace perdure::plan
