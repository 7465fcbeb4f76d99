#pragma once
// Holds the fields of CloverLeaf 2D and 3D on their mesh, at cells, nodes and faces, and the coordinates. Values for
// each direction are arrays, x first. Level 0 is the beginning of a time step, level 1 its end.
#include <array>
#include <set>
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

/// Numbers that the original has as single-precision literals.
inline constexpr double kSmall = static_cast<double>(1.0e-16F);
inline constexpr double kBig = static_cast<double>(1.0e21F);

struct Fields {
  Fields(perdure::mesh::Mesh& mesh, const perdure::mesh::Block& block, const Deck& deck);

  /// With `halo` additional layers on each side.
  Box cells(std::int64_t halo = 0) const;
  Box nodes() const;
  /// The faces across `axis` of cells outside of the halo.
  Box faces(unsigned axis) const;
  std::int64_t cell_count(unsigned axis) const { return block.cells[axis]; }

  /// Names of loops must stay valid: the same text gives the same pointer.
  const char* name(const std::string& text) { return names.insert(text).first->c_str(); }

  template <class Kernel, class... Arguments>
  void loop(perdure::mesh::LoopName name, const Box& range, const Kernel& kernel, const Arguments&... arguments) {
    mesh.par_loop(name, block, range, kernel, arguments...);
  }

  std::set<std::string> names;
  perdure::mesh::Mesh& mesh;
  const perdure::mesh::Block& block;
  unsigned dimensions;

  // at cells
  Field &density0, &density1, &energy0, &energy1, &pressure, &viscosity, &soundspeed, &volume;
  // at nodes
  PerAxis<Field*> velocity0{}, velocity1{};
  // at faces across each axis
  PerAxis<Field*> area{}, volume_flux{}, mass_flux{};
  // Shared temporaries, as large as nodes.
  Field &volume_before, &volume_after, &energy_flux, &node_flux, &node_mass_after, &node_mass_before, &momentum_flux;

  std::vector<Profile> vertex, vertex_width, cell_width;  ///< by axis
};

}  // namespace clover
