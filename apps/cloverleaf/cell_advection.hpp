#pragma once
// Advects density and energy along an axis by the volume that flows through faces, with van Leer's scheme.
#include <algorithm>
#include <cmath>

#include "axis.hpp"

namespace clover {

/// Computes volumes of cells before and after a sweep along `own`, before the sweeps along `others`. The original keeps
/// both, though no kernel here reads the second; this keeps the memory traffic equal.
template <unsigned own, unsigned... others>
void cell_volumes(Fields& fields) {
  fields.loop(
      name_along<own>(fields, "volumes for cells"), fields.cells(2),
      [](auto& before, auto& after, const auto& volume, const auto& flux, const auto&... other) {
        const double out = outflow<own>(flux);
        const double all = volume(0) + (out + ... + outflow<others>(other));
        before(0) = all;
        after(0) = all - out;
      },
      write(fields.volume_before), write(fields.volume_after), read(fields.volume),
      read(*fields.volume_flux[own], steps<own>(0, 1)), read(*fields.volume_flux[others], steps<others>(0, 1))...);
}

/// Returns the value at the face, in the direction of the flow. `share` of the donor's cell flows through it.
inline double limited(double upwind, double donor, double downwind, double share, double up_weight,
                      double down_weight) {
  const double up = donor - upwind, down = downwind - donor;
  const double size = std::min((1.0 / 6.0) * (up_weight * std::abs(up) + down_weight * std::abs(down)),
                               std::min(std::abs(up), std::abs(down)));
  const double rest = up * down > 0.0 ? 1.0 - share : 0.0;
  return donor + rest * std::copysign(size, down);
}

/// The original computes one more face, in the halo; mirroring overwrites it before any kernel reads it.
template <unsigned axis>
void face_fluxes(Fields& fields, const Box& faces) {
  const Stencil cells = steps<axis>(-2, 1), beside = steps<axis>(-1, 0);
  fields.loop(
      name_along<axis>(fields, "fluxes of cells"), faces,
      [](auto& mass_flux, auto& energy_flux, const auto& volume_flux, const auto& volume, const auto& density,
         const auto& energy, const auto& width) {
        // Loads all values before the choice between them, so that compilers need no branches.
        const double flux = volume_flux(0);
        const double r0 = at<axis>(density, -2), r1 = at<axis>(density, -1), r2 = at<axis>(density, 0),
                     r3 = at<axis>(density, 1);
        const double e0 = at<axis>(energy, -2), e1 = at<axis>(energy, -1), e2 = at<axis>(energy, 0),
                     e3 = at<axis>(energy, 1);
        const double v1 = at<axis>(volume, -1), v2 = at<axis>(volume, 0);
        const double w1 = width(-1), w2 = width(0), w3 = width(1);
        const bool up = flux > 0.0;  // otherwise the cell above the face is the donor
        const double rho = up ? r1 : r2, donor_volume = up ? v1 : v2, behind = up ? w1 : w3;
        const double share = std::abs(flux) / donor_volume;
        const double up_weight = (1.0 + share) * (w2 / behind), down_weight = 2.0 - share;
        const double mass = flux * limited(up ? r0 : r3, rho, up ? r2 : r1, share, up_weight, down_weight);
        const double mass_share = std::abs(mass) / (rho * donor_volume);
        mass_flux(0) = mass;
        energy_flux(0) = mass * limited(up ? e0 : e3, up ? e1 : e2, up ? e2 : e1, mass_share, up_weight, down_weight);
      },
      write(*fields.mass_flux[axis]), write(fields.energy_flux), read(*fields.volume_flux[axis]),
      read(fields.volume_before, beside), read(fields.density1, cells), read(fields.energy1, cells),
      along(fields.vertex_width[axis]));
}

template <unsigned axis>
void move_cells(Fields& fields) {
  const Stencil faces = steps<axis>(0, 1);
  fields.loop(
      name_along<axis>(fields, "move cells"), fields.cells(),
      [](auto& density, auto& energy, const auto& volume, const auto& volume_flux, const auto& mass_flux,
         const auto& energy_flux) {
        const double mass = density(0) * volume(0);
        const double new_mass = mass + at<axis>(mass_flux, 0) - at<axis>(mass_flux, 1);
        energy(0) = (energy(0) * mass + at<axis>(energy_flux, 0) - at<axis>(energy_flux, 1)) / new_mass;
        density(0) = new_mass / (volume(0) + at<axis>(volume_flux, 0) - at<axis>(volume_flux, 1));
      },
      read_write(fields.density1), read_write(fields.energy1), read(fields.volume_before),
      read(*fields.volume_flux[axis], faces), read(*fields.mass_flux[axis], faces), read(fields.energy_flux, faces));
}

}  // namespace clover
