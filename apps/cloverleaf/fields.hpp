#pragma once
// What CloverLeaf 2D and 3D have on their mesh: fields that are of cells, nodes and faces, and coordinates. What there
// is for each direction comes as arrays, x first. Level 0 is the beginning of a time step, level 1 its end.
#include <array>
#include <string>
#include <vector>

#include "deck.hpp"
#include "mesh/mesh.hpp"

namespace clover {

using Field = perdure::mesh::Data<double>;
using Profile = perdure::mesh::Profile<double>;
using perdure::mesh::along;
using perdure::mesh::Box;
using perdure::mesh::Index;
using perdure::mesh::into;
using perdure::mesh::read;
using perdure::mesh::read_write;
using perdure::mesh::Stencil;
using perdure::mesh::write;

template <class T>
using PerAxis = std::array<T, 3>;

/// Numbers that the original has as literals of single precision.
inline constexpr double kSmall = static_cast<double>(1.0e-16F);
inline constexpr double kBig = static_cast<double>(1.0e21F);

struct Fields {
  Fields(perdure::mesh::Mesh& mesh, const perdure::mesh::Block& block, const Deck& deck);

  /// With `halo` more on each side.
  Box cells(std::int64_t halo = 0) const;
  Box nodes() const;
  /// Those across `axis`, of cells that are no halo.
  Box faces(unsigned axis) const;
  std::int64_t cell_count(unsigned axis) const { return block.cells[axis]; }

  template <class Kernel, class... Arguments>
  void loop(perdure::mesh::LoopName name, const Box& range, const Kernel& kernel, const Arguments&... arguments) {
    mesh.par_loop(name, block, range, kernel, arguments...);
  }

  perdure::mesh::Mesh& mesh;
  const perdure::mesh::Block& block;
  unsigned dimensions;

  // of cells
  Field &density0, &density1, &energy0, &energy1, &pressure, &viscosity, &soundspeed, &volume;
  // of nodes
  PerAxis<Field*> velocity0{}, velocity1{};
  // of faces across each axis
  PerAxis<Field*> area{}, volume_flux{}, mass_flux{};
  // Used by turns, as large as nodes.
  Field &volume_before, &volume_after, &energy_flux, &node_flux, &node_mass_after, &node_mass_before, &momentum_flux;

  std::vector<Profile> vertex, vertex_width, cell_width;  ///< by axis
};

}  // namespace clover
