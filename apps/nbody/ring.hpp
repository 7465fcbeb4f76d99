// Lets every rank meet the bodies of every other: blocks travel around a ring of ranks, and each rank holds two at a
// time.
#pragma once

#include <functional>

#include "bodies.hpp"

namespace nbody {

class Ring {
 public:
  /// Divides `total` bodies in blocks over `ranks` ranks of MPI_COMM_WORLD.
  Ring(std::size_t total, int rank, int ranks);
  /// Calls `meet(block, own)` once for every rank's block, own block first, then from the left neighbour on.
  /// [collective]
  void travel(const Block& own, const std::function<void(const Block&, bool own)>& meet);

 private:
  void pass(int distance);

  std::size_t total_;
  int rank_, ranks_;
  std::vector<double> here_, coming_;  ///< x, y, z and mass of the guest, one after the other
  Block guest_;
};

}  // namespace nbody
