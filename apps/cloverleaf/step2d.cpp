// Implements sweeps and sums over the domain for CloverLeaf 2D.
#include "cell_advection.hpp"
#include "hydro.hpp"
#include "mirror.hpp"
#include "momentum_advection.hpp"

namespace clover {

const char* const kProgram = "clover2d";
const unsigned kDimensions = 2;
const std::array<double, 5> kExpected{1.82280367310258, 1.19316898756307, 2.58984003503994, 0.307475452287895,
                                      4.85350315783719};

namespace {

void mirror_for_momentum(Fields& fields) {
  const Mirrored all[] = {cell(fields.density1),
                          cell(fields.energy1),
                          velocity(*fields.velocity1[0], 0),
                          velocity(*fields.velocity1[1], 1),
                          flux(*fields.mass_flux[0], 0),
                          flux(*fields.mass_flux[1], 1)};
  mirror(fields, all, 2);
}

// Sweeps along an axis, before those along `others`.
template <unsigned axis, unsigned... others>
void sweep(Fields& fields) {
  cell_volumes<axis, others...>(fields);
  face_fluxes<axis>(fields, fields.faces(axis));
  move_cells<axis>(fields);
  mirror_for_momentum(fields);
  node_volumes<axis, others...>(fields);
  node_masses<2, axis>(fields);
  move_velocity<axis>(fields, *fields.velocity1[0]);
  // The original recomputes the volumes for each velocity.
  node_volumes<axis, others...>(fields);
  move_velocity<axis>(fields, *fields.velocity1[1]);
}

}  // namespace

void advect(Fields& fields, bool x_first) {
  const Mirrored all[] = {cell(fields.energy1), cell(fields.density1), flux(*fields.volume_flux[0], 0),
                          flux(*fields.volume_flux[1], 1)};
  mirror(fields, all, 2);
  if (x_first) {
    sweep<0, 1>(fields);
    sweep<1>(fields);
  } else {
    sweep<1, 0>(fields);
    sweep<0>(fields);
  }
}

Summary summarise(Fields& fields) {
  static const Stencil nodes = Stencil::from_to({0, 0}, {1, 1});
  equation_of_state(fields, fields.density0, fields.energy0);
  auto volume = fields.mesh.sum(), mass = fields.mesh.sum(), internal = fields.mesh.sum(), kinetic = fields.mesh.sum(),
       pressure = fields.mesh.sum();
  fields.loop(
      "summary", fields.cells(),
      [](const auto& cell_volume, const auto& rho, const auto& e, const auto& p, const auto& u, const auto& v,
         double& volumes, double& masses, double& internals, double& kinetics, double& pressures) {
        const auto squared = [&](std::int64_t x, std::int64_t y) { return u(x, y) * u(x, y) + v(x, y) * v(x, y); };
        const double speed2 = 0.25 * squared(0, 0) + 0.25 * squared(1, 0) + 0.25 * squared(0, 1) + 0.25 * squared(1, 1);
        const double cell_mass = cell_volume(0) * rho(0);
        volumes += cell_volume(0);
        masses += cell_mass;
        internals += cell_mass * e(0);
        kinetics += cell_mass * 0.5 * speed2;
        pressures += cell_volume(0) * p(0);
      },
      read(fields.volume), read(fields.density0), read(fields.energy0), read(fields.pressure),
      read(*fields.velocity0[0], nodes), read(*fields.velocity0[1], nodes), into(volume), into(mass), into(internal),
      into(kinetic), into(pressure));
  fields.mesh.collect({&volume, &mass, &internal, &kinetic, &pressure});
  return {volume.value(), mass.value(), internal.value(), kinetic.value(), pressure.value()};
}

}  // namespace clover
