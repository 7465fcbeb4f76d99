#pragma once
// Advects velocities along an axis by the mass that flows from node to node.
#include <algorithm>
#include <cmath>

#include "axis.hpp"

namespace clover {

/// Computes volumes of cells after and before a sweep along `own`, before the sweeps along `others`. No kernel here
/// reads the latter; see cell_volumes().
template <unsigned own, unsigned... others>
void node_volumes(Fields& fields) {
  fields.loop(
      name_along<own>(fields, "volumes for nodes"), fields.cells(2),
      [](auto& after, auto& before, const auto& volume, const auto& flux, const auto&... other) {
        const double all = (volume(0) + ... + outflow<others>(other));
        after(0) = all;
        before(0) = all + outflow<own>(flux);
      },
      write(fields.volume_after), write(fields.volume_before), read(fields.volume),
      read(*fields.volume_flux[own], steps<own>(0, 1)), read(*fields.volume_flux[others], steps<others>(0, 1))...);
}

/// Returns the mean of `part(offsets)` around a node, over offsets -1 and 0 in each dimension.
template <unsigned dimensions, class Part>
inline double mean_around(const Part& part) {
  const double sum = part(-1, -1, 0) + part(0, -1, 0) + part(-1, 0, 0) + part(0, 0, 0);
  if constexpr (dimensions == 2) return 0.25 * sum;
  return 0.125 * (sum + part(-1, -1, -1) + part(0, -1, -1) + part(-1, 0, -1) + part(0, 0, -1));
}

/// Returns nodes, with additional ones along the axis.
template <unsigned axis>
Box nodes_along(const Fields& fields, std::int64_t begin, std::int64_t beyond_cells) {
  Box box = fields.nodes();
  box.begin[axis] = begin;
  box.end[axis] = fields.cell_count(axis) + beyond_cells;
  return box;
}

template <unsigned dimensions>
Stencil cells_around_node() {
  return Stencil::from_to({-1, -1, dimensions == 3 ? -1 : 0}, {0, 0, 0});
}

template <unsigned dimensions, unsigned axis>
void node_masses(Fields& fields) {
  Index low{-1, -1, dimensions == 3 ? -1 : 0}, high{};
  low[axis] = 0;
  high[axis] = 1;
  fields.loop(
      name_along<axis>(fields, "fluxes of nodes"), nodes_along<axis>(fields, -2, 2),
      [](auto& node_flux, const auto& mass_flux) {
        node_flux(0) = mean_around<dimensions>([&](std::int64_t x, std::int64_t y, std::int64_t z) {
          return mass_flux(axis == 0 ? x + 1 : x, axis == 1 ? y + 1 : y, axis == 2 ? z + 1 : z);
        });
      },
      write(fields.node_flux), read(*fields.mass_flux[axis], Stencil::from_to(low, high)));
  fields.loop(
      name_along<axis>(fields, "masses of nodes"), nodes_along<axis>(fields, -1, 2),
      [](auto& after, auto& before, const auto& density, const auto& volume, const auto& node_flux) {
        const double mass = mean_around<dimensions>(
            [&](std::int64_t x, std::int64_t y, std::int64_t z) { return density(x, y, z) * volume(x, y, z); });
        after(0) = mass;
        before(0) = mass - at<axis>(node_flux, -1) + node_flux(0);
      },
      write(fields.node_mass_after), write(fields.node_mass_before),
      read(fields.density1, cells_around_node<dimensions>()),
      read(fields.volume_after, cells_around_node<dimensions>()), read(fields.node_flux, steps<axis>(-1, 0)));
}

template <unsigned axis>
void move_velocity(Fields& fields, Field& velocity) {
  fields.loop(
      name_along<axis>(fields, "fluxes of momentum"), nodes_along<axis>(fields, -1, 1),
      [](auto& momentum_flux, const auto& node_flux, const auto& mass, const auto& speed, const auto& width) {
        const double flux = node_flux(0);
        const bool down = flux < 0.0;  // the node above is the donor
        // Loads all values before the choice between them, so that compilers need no branches.
        const double before = at<axis>(speed, -1), first = at<axis>(speed, 0), second = at<axis>(speed, 1),
                     after = at<axis>(speed, 2);
        const double mass_first = at<axis>(mass, 0), mass_second = at<axis>(mass, 1);
        const double width_before = width(-1), here = width(0), width_second = width(1);
        const double donor = down ? second : first;
        const double up = donor - (down ? after : before), ahead = (down ? first : second) - donor;
        const double share = std::abs(flux) / (down ? mass_second : mass_first);
        const double behind = down ? width_second : width_before;
        const double mean =
            here * ((2.0 - share) * std::abs(ahead) / here + (1.0 + share) * std::abs(up) / behind) / 6.0;
        const double size = std::min(mean, std::min(std::abs(up), std::abs(ahead)));
        const double limiter = up * ahead > 0.0 ? std::copysign(size, ahead) : 0.0;
        momentum_flux(0) = (donor + (1.0 - share) * limiter) * flux;
      },
      write(fields.momentum_flux), read(fields.node_flux), read(fields.node_mass_before, steps<axis>(0, 1)),
      read(velocity, steps<axis>(-1, 2)), along(fields.cell_width[axis]));
  fields.loop(
      name_along<axis>(fields, "move velocity"), fields.nodes(),
      [](auto& speed, const auto& before, const auto& after, const auto& momentum_flux) {
        speed(0) = (speed(0) * before(0) + at<axis>(momentum_flux, -1) - momentum_flux(0)) / after(0);
      },
      read_write(velocity), read(fields.node_mass_before), read(fields.node_mass_after),
      read(fields.momentum_flux, steps<axis>(-1, 0)));
}

}  // namespace clover
