#pragma once
// Computes a Jacobi stencil on a plane that is divided among ranks in both dimensions.
#include <mpi.h>

#include <vector>

#include "array/box.hpp"
#include "world.hpp"

namespace perdure::elastic_bench {

class Lattice {
 public:
  static constexpr std::uint64_t kGhosts = 1;
  Lattice(std::uint64_t rows, std::uint64_t columns, const micro::World& world);
  ~Lattice();
  Lattice(const Lattice&) = delete;
  Lattice& operator=(const Lattice&) = delete;
  /// Exchanges the halo, and replaces each element by the mean of its four neighbours. [collective]
  void step();
  const array::Box& whole() const { return whole_; }
  const array::Box& mine() const { return mine_; }
  /// Returns the distance between rows in memory, ghosts included.
  std::uint64_t stride() const { return mine_.extent(1) + 2 * kGhosts; }
  /// Returns the address of this rank's first element, without ghosts. It is the same after an even number of steps.
  double* first() { return now_.data() + kGhosts * stride() + kGhosts; }
  std::vector<double>& values() { return now_; }

 private:
  void exchange();
  array::Box whole_, mine_;
  int up_, down_, left_, right_;  ///< ranks, or MPI_PROC_NULL
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
  std::vector<double> now_, next_;
};

}  // namespace perdure::elastic_bench
