#pragma once
// Chooses which pairs of ranks measure their link at the same time. Pure.
#include <utility>
#include <vector>

namespace perdure::mpi_link {

using Pair = std::pair<int, int>;  ///< the lower rank first
using Round = std::vector<Pair>;   ///< pairs that measure at the same time; no rank appears twice

/// Returns every pair once, with the most pairs per round (the circle method): n - 1 rounds for an even number of
/// ranks, else n.
std::vector<Round> parallel_rounds(int ranks);
/// Returns every pair once, one per round.
std::vector<Round> serial_rounds(int ranks);

/// Returns the other rank of `rank`'s pair; -1 if it has none.
int peer_of(int rank, const Round& round);

}  // namespace perdure::mpi_link
