#pragma once
// Density and energy are carried along an axis by the volume that goes through faces: van Leer's scheme.
#include <algorithm>
#include <cmath>

#include "axis.hpp"

namespace clover {

/// Volumes of cells before and after a sweep along `own`, where the sweeps along `others` are yet to come. The original
/// keeps both, though here nobody reads the second: as much memory is moved as there.
template <unsigned own, unsigned... others>
void cell_volumes(Fields& fields) {
  fields.loop(
      "volumes for cells", fields.cells(2),
      [](auto& before, auto& after, const auto& volume, const auto& flux, const auto&... other) {
        const double out = outflow<own>(flux);
        const double all = volume(0) + (out + ... + outflow<others>(other));
        before(0) = all;
        after(0) = all - out;
      },
      write(fields.volume_before), write(fields.volume_after), read(fields.volume),
      read(*fields.volume_flux[own], steps<own>(0, 1)), read(*fields.volume_flux[others], steps<others>(0, 1))...);
}

/// By how much the value at the face differs from the donor's. `share` of the donor's cell goes through it.
inline double limited(double upwind, double donor, double downwind, double share, double up_weight,
                      double down_weight) {
  const double up = donor - upwind, down = downwind - donor;
  const double size = std::min(std::min(std::abs(up), std::abs(down)),
                               (1.0 / 6.0) * (up_weight * std::abs(up) + down_weight * std::abs(down)));
  return up * down > 0.0 ? (1.0 - share) * std::copysign(size, down) : 0.0;
}

/// The original goes one face further, into the halo; what it has there is mirrored over before anybody reads it.
template <unsigned axis>
void face_fluxes(Fields& fields, const Box& faces) {
  const Stencil cells = steps<axis>(-2, 1), beside = steps<axis>(-1, 0);
  fields.loop(
      "fluxes of cells", faces,
      [](auto& mass_flux, auto& energy_flux, const auto& volume_flux, const auto& volume, const auto& density,
         const auto& energy, const auto& width) {
        const double flux = volume_flux(0);
        const bool up = flux > 0.0;  // else the cell above the face is the donor
        const double rho_donor = up ? at<axis>(density, -1) : at<axis>(density, 0);
        const double rho_upwind = up ? at<axis>(density, -2) : at<axis>(density, 1);
        const double rho_downwind = up ? at<axis>(density, 0) : at<axis>(density, -1);
        const double e_donor = up ? at<axis>(energy, -1) : at<axis>(energy, 0);
        const double e_upwind = up ? at<axis>(energy, -2) : at<axis>(energy, 1);
        const double e_downwind = up ? at<axis>(energy, 0) : at<axis>(energy, -1);
        const double volume_donor = up ? at<axis>(volume, -1) : at<axis>(volume, 0);
        const double share = std::abs(flux) / volume_donor;
        const double up_weight = (1.0 + share) * (width(0) / (up ? width(-1) : width(1)));
        const double down_weight = 2.0 - share;
        const double mass =
            flux * (rho_donor + limited(rho_upwind, rho_donor, rho_downwind, share, up_weight, down_weight));
        const double mass_share = std::abs(mass) / (rho_donor * volume_donor);
        mass_flux(0) = mass;
        energy_flux(0) = mass * (e_donor + limited(e_upwind, e_donor, e_downwind, mass_share, up_weight, down_weight));
      },
      write(*fields.mass_flux[axis]), write(fields.energy_flux), read(*fields.volume_flux[axis]),
      read(fields.volume_before, beside), read(fields.density1, cells), read(fields.energy1, cells),
      along(fields.vertex_width[axis]));
}

template <unsigned axis>
void move_cells(Fields& fields) {
  const Stencil faces = steps<axis>(0, 1);
  fields.loop(
      "move cells", fields.cells(),
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
