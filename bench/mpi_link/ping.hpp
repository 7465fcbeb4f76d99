#pragma once
// Exchanges messages between two ranks, as in the Intel MPI Benchmarks (D5.4, 3.2.1).
#include <cstdint>
#include <vector>

#include "base/result.hpp"

namespace perdure::mpi_link {

enum class Pattern {
  pingpong,  ///< one way, then the other: half of a round trip counts
  pingping   ///< both ways at the same time
};

/// This rank's end of a link.
class End {
 public:
  /// Messages have at most `max_bytes`.
  End(int rank, int peer, std::uint64_t max_bytes);
  /// Returns the mean seconds of one message over `iterations`, by this rank's clock. [collective among both]
  double measure(Pattern pattern, std::uint64_t bytes, int iterations);
  /// Checks that the last message of this size is the one that the peer sends.
  base::Status verify(std::uint64_t bytes) const;

 private:
  void one(Pattern pattern, int bytes);
  int peer_;
  bool first_;
  std::vector<char> sent_, received_, expected_;
};

}  // namespace perdure::mpi_link
