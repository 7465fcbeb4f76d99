#include "fields.hpp"

namespace clover {
namespace {

using perdure::mesh::Block;
using perdure::mesh::Mesh;
using perdure::mesh::Shape;

constexpr std::int64_t kHalo = 2;

Shape with_more(const Index& more, const char* unit, const char* description) {
  Shape shape;
  shape.more = more;
  shape.halo = kHalo;
  shape.unit = unit;
  shape.description = description;
  return shape;
}

Index one_more(unsigned axis) {
  Index more{};
  more[axis] = 1;
  return more;
}

Index node_more(const Block& block) {
  Index more{};
  for (unsigned axis = 0; axis < block.dimensions(); ++axis) more[axis] = 1;
  return more;
}

Field& of_cells(Mesh& mesh, const Block& block, const char* name, const char* description) {
  return mesh.data(block, name, with_more({}, "", description));
}

Field& of_nodes(Mesh& mesh, const Block& block, const std::string& name, const char* description) {
  return mesh.data(block, name, with_more(node_more(block), "", description));
}

}  // namespace

Fields::Fields(Mesh& on, const Block& of, const Deck& deck)
    : mesh(on),
      block(of),
      dimensions(of.dimensions()),
      density0(of_cells(on, of, "density0", "density at the beginning of a step")),
      density1(of_cells(on, of, "density1", "density at its end")),
      energy0(of_cells(on, of, "energy0", "specific energy at the beginning of a step")),
      energy1(of_cells(on, of, "energy1", "specific energy at its end")),
      pressure(of_cells(on, of, "pressure", "")),
      viscosity(of_cells(on, of, "viscosity", "artificial viscosity, as a pressure")),
      soundspeed(of_cells(on, of, "soundspeed", "")),
      volume(of_cells(on, of, "volume", "")),
      volume_before(of_nodes(on, of, "pre_vol", "volume of cells before a sweep")),
      volume_after(of_nodes(on, of, "post_vol", "and after it")),
      energy_flux(of_nodes(on, of, "ener_flux", "energy that goes through faces")),
      node_flux(of_nodes(on, of, "node_flux", "mass that goes from node to node")),
      node_mass_after(of_nodes(on, of, "node_mass_post", "mass around nodes after a sweep")),
      node_mass_before(of_nodes(on, of, "node_mass_pre", "and before it")),
      momentum_flux(of_nodes(on, of, "mom_flux", "momentum that goes from node to node")) {
  for (unsigned axis = 0; axis < dimensions; ++axis) {
    const std::string x = kAxes[axis];
    velocity0[axis] = &of_nodes(on, of, x + "vel0", "velocity at the beginning of a step");
    velocity1[axis] = &of_nodes(on, of, x + "vel1", "velocity at its end");
    const auto of_faces = [&](const std::string& name, const char* description) {
      return &on.data(of, name, with_more(one_more(axis), "", description));
    };
    area[axis] = of_faces(x + "area", "");
    volume_flux[axis] = of_faces("vol_flux_" + x, "volume that goes through faces in a step");
    mass_flux[axis] = of_faces("mass_flux_" + x, "mass that goes through faces in a step");

    const double width = deck.width(axis), low = deck.low[axis];
    const std::int64_t cells = of.cells[axis];
    const auto at = [=](std::int64_t i) { return low + width * static_cast<double>(i); };
    const auto same = [=](std::int64_t) { return width; };
    vertex.emplace_back(axis, -kHalo, cells + 1 + kHalo, at);
    vertex_width.emplace_back(axis, -kHalo, cells + 1 + kHalo, same);
    cell_width.emplace_back(axis, -kHalo, cells + kHalo, same);
  }
}

Box Fields::cells(std::int64_t halo) const {
  Box box;
  box.dimensions = dimensions;
  for (unsigned axis = 0; axis < dimensions; ++axis) {
    box.begin[axis] = -halo;
    box.end[axis] = cell_count(axis) + halo;
  }
  return box;
}

Box Fields::nodes() const {
  Box box = cells();
  for (unsigned axis = 0; axis < dimensions; ++axis) ++box.end[axis];
  return box;
}

Box Fields::faces(unsigned axis) const {
  Box box = cells();
  ++box.end[axis];
  return box;
}

}  // namespace clover
