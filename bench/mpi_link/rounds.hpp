#pragma once
// Which pairs of ranks measure their link, and which of them at the same time. Pure.
#include <utility>
#include <vector>

namespace perdure::mpi_link {

using Pair = std::pair<int, int>;  ///< the lower rank first
using Round = std::vector<Pair>;   ///< at the same time; nobody twice

/// Every pair once, as many at a time as can be (the circle method): n - 1 rounds for an even number of ranks, else n.
std::vector<Round> parallel_rounds(int ranks);
/// Every pair once, one at a time.
std::vector<Round> serial_rounds(int ranks);

/// The other one of `rank`'s pair; -1 if it has none.
int peer_of(int rank, const Round& round);

}  // namespace perdure::mpi_link
