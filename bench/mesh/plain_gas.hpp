#pragma once
// Implements CloverLeaf 2D as one writes it without a mesh library. A rank has its part of each array, with a halo of 2
// around it, and kernels are loops over rows.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "deck.hpp"

namespace perdure::plain {

inline constexpr std::int64_t kHalo = 2;

/// One value per cell, node or face, x fastest. Adjacent parts both have the nodes and faces between them.
struct Array {
  void make(std::int64_t nx, std::int64_t ny, std::int64_t more_x, std::int64_t more_y);
  double* row(std::int64_t y) const { return origin + y * pitch; }
  std::array<std::int64_t, 2> more{};  ///< elements in addition to cells
  std::int64_t pitch = 0;              ///< from one row to the next
  double* origin = nullptr;            ///< address of element 0, 0
  std::unique_ptr<double, void (*)(void*)> memory{nullptr, std::free};
};

/// A rank's part of all cells.
struct Part {
  MPI_Comm communicator = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  std::array<int, 2> grid{1, 1};
  std::array<std::array<int, 2>, 2> neighbour{{{-1, -1}, {-1, -1}}};  ///< by axis, below and above; -1: the domain ends
  std::array<std::int64_t, 2> first{}, cells{}, all{};  ///< the part's first cell, its cells, and those of the domain
};
/// Chooses the grid of ranks with the smallest cuts. Returns false if no grid gives each rank enough cells.
bool divide(MPI_Comm communicator, std::int64_t nx, std::int64_t ny, Part& part);

struct Gas {
  Gas(const Part& of, const clover::Deck& deck, int with_threads);
  const Part& part;
  int threads;
  std::int64_t nx, ny;
  Array density0, density1, energy0, energy1, pressure, viscosity, soundspeed, volume;
  std::array<Array, 2> velocity0, velocity1, area, volume_flux, mass_flux;
  Array volume_before, volume_after, energy_flux, node_flux, node_mass_after, node_mass_before, momentum_flux;
  std::array<std::vector<double>, 2> vertex, vertex_width, cell_width;  ///< by axis, from -2 on
  mutable std::array<std::vector<double>, 4> buffers;                   ///< for messages
};

/// Says how an array's halo is filled at the domain's edges; see apps/cloverleaf/mirror.hpp.
struct Halo {
  Array* array;
  enum class Kind { cell, node, flux } kind = Kind::cell;
  int flips = -1;
};
/// Fills halos from the neighbours, with one message to each for all arrays together, then at the edges.
void update(const Gas& gas, const std::vector<Halo>& halos, std::int64_t depth);

void initialise(Gas& gas, const clover::Deck& deck);
void equation_of_state(Gas& gas, const Array& density, const Array& energy);
void artificial_viscosity(Gas& gas);
/// Returns the limits of the time step by sound, by velocity along x and y, and by divergence, over all ranks.
std::array<double, 4> limits(Gas& gas);
void predict(Gas& gas, double dt);
void correct(Gas& gas, double dt);
void accelerate(Gas& gas, double dt);
void volume_fluxes(Gas& gas, double dt);
void advect(Gas& gas, bool x_first);
void copy(const Gas& gas, const Array& from, Array& to);
/// Returns volume, mass, internal and kinetic energy, and pressure, over all ranks.
std::array<double, 5> summarise(Gas& gas);
/// Returns the same number as clover2d for the same bits.
std::uint64_t state_hash(const Gas& gas);

}  // namespace perdure::plain
