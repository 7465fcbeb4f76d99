#pragma once
// Computes a blast in a gas, on a grid that moves with it. It uses explicit time steps of Lagrangian hydrodynamics, in
// loops over elements and loops over nodes, as LULESH does. This code knows nothing of checkpoints.
#include <mpi.h>

#include <vector>

#include "grid.hpp"

namespace blast {

using Field = std::vector<double>;

/// The fields at this rank's nodes and elements, and in the adjacent rows.
struct State {
  explicit State(const Grid& grid);
  Field x, y, x_next, y_next, u, v, force_x, force_y, node_mass;              ///< at nodes
  Field energy, energy_next, volume, volume_next, pressure, viscosity, mass;  ///< at elements
};

class Hydro {
 public:
  Hydro(const Grid& grid, MPI_Comm ranks) : grid_(grid), ranks_(ranks) {}
  /// Sets a gas at rest, with energy in the corner, also in the adjacent rows.
  void initialise(State& state) const;
  // The parts of a step, in order. Each fetches the neighbours' rows that it needs.
  void forces(State& state) const;                     ///< from x, y, pressure, viscosity
  void move(State& state, double dt) const;            ///< sets x_next, y_next, u, v
  void volumes(State& state) const;                    ///< sets volume_next, from x, y
  void work(State& state) const;                       ///< sets energy_next
  void pressures(State& state, double dt) const;       ///< sets pressure and viscosity, from the new energy and volume
  double time_step(const State& state) const;          ///< the longest that all ranks can take
  double greatest_pressure(const State& state) const;  ///< over all ranks
  /// Returns a hash of all bits that ranks own, the same on any number of ranks.
  std::uint64_t hash(const State& state) const;

 private:
  enum class From { below, above };
  void fetch(Field& field, const Rows& rows, From from) const;
  double on_all(double mine, MPI_Op operation) const;
  std::uint64_t hash_of(const Field& field, const Rows& rows, std::uint64_t number) const;

  const Grid& grid_;
  MPI_Comm ranks_;
};

}  // namespace blast
