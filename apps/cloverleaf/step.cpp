// Defines the order of operations in a time step, which is the same in two and three dimensions.
#include <cmath>

#include "hydro.hpp"
#include "mirror.hpp"

namespace clover {
namespace {

void copy_level(Fields& fields, const std::string& name, Field& from, Field& to, const Box& range) {
  fields.loop(
      fields.name(name + to.name()), range, [](auto& out, const auto& in) { out(0) = in(0); }, write(to), read(from));
}

}  // namespace

void equation_of_state(Fields& fields, Field& density, Field& energy) {
  fields.loop(
      "equation of state", fields.cells(),
      [](auto& pressure, auto& soundspeed, const auto& rho, const auto& e) {
        const double v = 1.0 / rho(0);
        const double p = (1.4 - 1.0) * rho(0) * e(0);
        const double by_energy = (1.4 - 1.0) * rho(0), by_volume = -rho(0) * p;
        pressure(0) = p;
        soundspeed(0) = std::sqrt(v * v * (p * by_energy - by_volume));
      },
      write(fields.pressure), write(fields.soundspeed), read(density), read(energy));
}

std::vector<Limit> limits_of_step(Fields& fields) {
  equation_of_state(fields, fields.density0, fields.energy0);
  // The velocity along z is not needed there.
  const Mirrored before[] = {cell(fields.pressure), cell(fields.energy0), cell(fields.density0),
                             velocity(*fields.velocity0[0], 0), velocity(*fields.velocity0[1], 1)};
  mirror(fields, before, 1);
  artificial_viscosity(fields);
  const Mirrored after[] = {cell(fields.viscosity)};
  mirror(fields, after, 1);
  return limits(fields);
}

void advance(Fields& fields, double dt, bool x_first) {
  predict(fields, dt);
  equation_of_state(fields, fields.density1, fields.energy1);
  const Mirrored pressure[] = {cell(fields.pressure)};
  mirror(fields, pressure, 1);
  // Only the pressure was needed. The correction begins at level 0 in any case; the original makes this copy all the
  // same.
  copy_level(fields, "revert ", fields.density0, fields.density1, fields.cells());
  copy_level(fields, "revert ", fields.energy0, fields.energy1, fields.cells());
  accelerate(fields, dt);
  correct(fields, dt);
  volume_fluxes(fields, dt);
  advect(fields, x_first);
  copy_level(fields, "reset ", fields.density1, fields.density0, fields.cells());
  copy_level(fields, "reset ", fields.energy1, fields.energy0, fields.cells());
  for (unsigned axis = 0; axis < fields.dimensions; ++axis)
    copy_level(fields, "reset ", *fields.velocity1[axis], *fields.velocity0[axis], fields.nodes());
}

}  // namespace clover
