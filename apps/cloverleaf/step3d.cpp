// Implements sweeps and sums over the domain for CloverLeaf 3D.
#include "cell_advection.hpp"
#include "hydro.hpp"
#include "mirror.hpp"
#include "momentum_advection.hpp"

namespace clover {

const char* const kProgram = "clover3d";
const unsigned kDimensions = 3;
const std::array<double, 5> kExpected{3.64560737191257, 20.0546870878964, 0.37517221925665, 17.9845165368889,
                                      2.05018938455107};

namespace {

void mirror_for_cells(Fields& fields) {
  const Mirrored all[] = {cell(fields.energy1), cell(fields.density1), flux(*fields.volume_flux[0], 0),
                          flux(*fields.volume_flux[1], 1), flux(*fields.volume_flux[2], 2)};
  mirror(fields, all, 2);
}

void mirror_for_momentum(Fields& fields) {
  const Mirrored all[] = {cell(fields.density1),
                          cell(fields.energy1),
                          velocity(*fields.velocity1[0], 0),
                          velocity(*fields.velocity1[1], 1),
                          velocity(*fields.velocity1[2], 2),
                          flux(*fields.mass_flux[0], 0),
                          flux(*fields.mass_flux[1], 1),
                          flux(*fields.mass_flux[2], 2)};
  mirror(fields, all, 2);
}

// Across y the original includes faces of the halo above z: they reach corners that mirror() leaves.
Box swept_faces(const Fields& fields, unsigned axis) {
  Box faces = fields.faces(axis);
  if (axis == 1) faces.end[2] += 2;
  return faces;
}

// Sweeps along an axis, before those along `others`.
template <unsigned axis, unsigned... others>
void sweep(Fields& fields) {
  cell_volumes<axis, others...>(fields);
  face_fluxes<axis>(fields, swept_faces(fields, axis));
  move_cells<axis>(fields);
  mirror_for_momentum(fields);
  for (unsigned of = 0; of < 3; ++of) {
    node_volumes<axis, others...>(fields);  // recomputed for each velocity, as in the original
    if (of == 0) node_masses<3, axis>(fields);
    move_velocity<axis>(fields, *fields.velocity1[of]);
  }
}

}  // namespace

void advect(Fields& fields, bool x_first) {
  mirror_for_cells(fields);
  if (x_first)
    sweep<0, 1, 2>(fields);
  else
    sweep<2, 0, 1>(fields);
  mirror_for_cells(fields);
  if (x_first) {
    sweep<1, 2>(fields);
    sweep<2>(fields);
  } else {
    sweep<1, 0>(fields);
    sweep<0>(fields);
  }
}

Summary summarise(Fields& fields) {
  static const Stencil nodes = Stencil::from_to({0, 0, 0}, {1, 1, 1});
  equation_of_state(fields, fields.density0, fields.energy0);
  auto volume = fields.mesh.sum(), mass = fields.mesh.sum(), internal = fields.mesh.sum(), kinetic = fields.mesh.sum(),
       pressure = fields.mesh.sum();
  fields.loop(
      "summary", fields.cells(),
      [](const auto& cell_volume, const auto& rho, const auto& e, const auto& p, const auto& u, const auto& v,
         const auto& w, double& volumes, double& masses, double& internals, double& kinetics, double& pressures) {
        double speed2 = 0;
        for (int z = 0; z < 2; ++z)
          for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 2; ++x)
              speed2 += 0.125 * (u(x, y, z) * u(x, y, z) + v(x, y, z) * v(x, y, z) + w(x, y, z) * w(x, y, z));
        const double cell_mass = cell_volume(0) * rho(0);
        volumes += cell_volume(0);
        masses += cell_mass;
        internals += cell_mass * e(0);
        kinetics += cell_mass * 0.5 * speed2;
        pressures += cell_volume(0) * p(0);
      },
      read(fields.volume), read(fields.density0), read(fields.energy0), read(fields.pressure),
      read(*fields.velocity0[0], nodes), read(*fields.velocity0[1], nodes), read(*fields.velocity0[2], nodes),
      into(volume), into(mass), into(internal), into(kinetic), into(pressure));
  fields.mesh.collect({&volume, &mass, &internal, &kinetic, &pressure});
  return {volume.value(), mass.value(), internal.value(), kinetic.value(), pressure.value()};
}

}  // namespace clover
