// Advects density, energy and velocity along one axis and then along the other. These are the kernels of
// apps/cloverleaf/cell_advection.hpp and momentum_advection.hpp as plain loops.
#include <algorithm>
#include <cmath>

#include "plain_gas.hpp"

namespace perdure::plain {
namespace {

/// Returns the distance from an element to the next one along the axis.
template <std::size_t axis>
std::int64_t stride(const Array& array) {
  return axis == 0 ? 1 : array.pitch;
}

/// Rows and columns of nodes, with more of them along the axis.
template <std::size_t axis>
struct NodesAlong {
  NodesAlong(const Gas& gas, std::int64_t begin, std::int64_t beyond_cells)
      : x_begin(axis == 0 ? begin : 0),
        x_end(axis == 0 ? gas.nx + beyond_cells : gas.nx + 1),
        y_begin(axis == 1 ? begin : 0),
        y_end(axis == 1 ? gas.ny + beyond_cells : gas.ny + 1) {}
  std::int64_t x_begin, x_end, y_begin, y_end;
};

template <std::size_t axis, bool first>
void cell_volumes(Gas& gas) {
  const Array &own_flux = gas.volume_flux[axis], &other_flux = gas.volume_flux[1 - axis];
  const std::int64_t own = stride<axis>(own_flux), other = stride<1 - axis>(other_flux);
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = -kHalo; y < gas.ny + kHalo; ++y) {
    const double *volume = gas.volume.row(y), *flux = own_flux.row(y), *beside = other_flux.row(y);
    double *before = gas.volume_before.row(y), *after = gas.volume_after.row(y);
#pragma GCC ivdep
    for (std::int64_t x = -kHalo; x < gas.nx + kHalo; ++x) {
      const double out = flux[x + own] - flux[x];
      const double all = first ? volume[x] + (out + (beside[x + other] - beside[x])) : volume[x] + out;
      before[x] = all;
      after[x] = all - out;
    }
  }
}

inline double limited(double upwind, double donor, double downwind, double share, double up_weight,
                      double down_weight) {
  const double up = donor - upwind, down = downwind - donor;
  const double size = std::min((1.0 / 6.0) * (up_weight * std::abs(up) + down_weight * std::abs(down)),
                               std::min(std::abs(up), std::abs(down)));
  const double rest = up * down > 0.0 ? 1.0 - share : 0.0;
  return donor + rest * std::copysign(size, down);
}

template <std::size_t axis>
void face_fluxes(Gas& gas) {
  const std::int64_t cell = stride<axis>(gas.density1), node = stride<axis>(gas.volume_before);
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y < gas.ny + (axis == 1 ? 1 : 0); ++y) {
    const double *volume_flux = gas.volume_flux[axis].row(y), *volume = gas.volume_before.row(y);
    const double *density = gas.density1.row(y), *energy = gas.energy1.row(y);
    const double* width = gas.vertex_width[axis].data() + kHalo + (axis == 1 ? y : 0);
    double *mass_flux = gas.mass_flux[axis].row(y), *energy_flux = gas.energy_flux.row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x < gas.nx + (axis == 0 ? 1 : 0); ++x) {
      const double flux = volume_flux[x];
      const double r0 = density[x - 2 * cell], r1 = density[x - cell], r2 = density[x], r3 = density[x + cell];
      const double e0 = energy[x - 2 * cell], e1 = energy[x - cell], e2 = energy[x], e3 = energy[x + cell];
      const double v1 = volume[x - node], v2 = volume[x];
      const std::int64_t at = axis == 0 ? x : 0;
      const double w1 = width[at - 1], w2 = width[at], w3 = width[at + 1];
      const bool up = flux > 0.0;
      const double rho = up ? r1 : r2, donor_volume = up ? v1 : v2, behind = up ? w1 : w3;
      const double share = std::abs(flux) / donor_volume;
      const double up_weight = (1.0 + share) * (w2 / behind), down_weight = 2.0 - share;
      const double mass = flux * limited(up ? r0 : r3, rho, up ? r2 : r1, share, up_weight, down_weight);
      const double mass_share = std::abs(mass) / (rho * donor_volume);
      mass_flux[x] = mass;
      energy_flux[x] = mass * limited(up ? e0 : e3, up ? e1 : e2, up ? e2 : e1, mass_share, up_weight, down_weight);
    }
  }
}

template <std::size_t axis>
void move_cells(Gas& gas) {
  const std::int64_t face = stride<axis>(gas.mass_flux[axis]), node = stride<axis>(gas.energy_flux);
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y < gas.ny; ++y) {
    const double *volume = gas.volume_before.row(y), *volume_flux = gas.volume_flux[axis].row(y);
    const double *mass_flux = gas.mass_flux[axis].row(y), *energy_flux = gas.energy_flux.row(y);
    double *density = gas.density1.row(y), *energy = gas.energy1.row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x < gas.nx; ++x) {
      const double mass = density[x] * volume[x];
      const double new_mass = mass + mass_flux[x] - mass_flux[x + face];
      energy[x] = (energy[x] * mass + energy_flux[x] - energy_flux[x + node]) / new_mass;
      density[x] = new_mass / (volume[x] + volume_flux[x] - volume_flux[x + face]);
    }
  }
}

template <std::size_t axis, bool first>
void node_volumes(Gas& gas) {
  const Array &own_flux = gas.volume_flux[axis], &other_flux = gas.volume_flux[1 - axis];
  const std::int64_t own = stride<axis>(own_flux), other = stride<1 - axis>(other_flux);
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = -kHalo; y < gas.ny + kHalo; ++y) {
    const double *volume = gas.volume.row(y), *flux = own_flux.row(y), *beside = other_flux.row(y);
    double *before = gas.volume_before.row(y), *after = gas.volume_after.row(y);
#pragma GCC ivdep
    for (std::int64_t x = -kHalo; x < gas.nx + kHalo; ++x) {
      const double all = first ? volume[x] + (beside[x + other] - beside[x]) : volume[x];
      after[x] = all;
      before[x] = all + (flux[x + own] - flux[x]);
    }
  }
}

template <std::size_t axis>
void node_masses(Gas& gas) {
  const NodesAlong<axis> fluxes(gas, -2, 2), masses(gas, -1, 2);
  const Array& mass_flux = gas.mass_flux[axis];
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = fluxes.y_begin; y < fluxes.y_end; ++y) {
    // Starts at the lower left one.
    const double* low = axis == 0 ? mass_flux.row(y - 1) : mass_flux.row(y) - 1;
    const double* high = axis == 0 ? mass_flux.row(y) : mass_flux.row(y + 1) - 1;
    double* node_flux = gas.node_flux.row(y);
#pragma GCC ivdep
    for (std::int64_t x = fluxes.x_begin; x < fluxes.x_end; ++x)
      node_flux[x] = 0.25 * (low[x] + low[x + 1] + high[x] + high[x + 1]);
  }
  const std::int64_t node = stride<axis>(gas.node_flux);
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = masses.y_begin; y < masses.y_end; ++y) {
    const double *rho = gas.density1.row(y), *rho_below = gas.density1.row(y - 1), *node_flux = gas.node_flux.row(y);
    const double *volume = gas.volume_after.row(y), *volume_below = gas.volume_after.row(y - 1);
    double *after = gas.node_mass_after.row(y), *before = gas.node_mass_before.row(y);
#pragma GCC ivdep
    for (std::int64_t x = masses.x_begin; x < masses.x_end; ++x) {
      const double mass = 0.25 * (rho_below[x - 1] * volume_below[x - 1] + rho_below[x] * volume_below[x] +
                                  rho[x - 1] * volume[x - 1] + rho[x] * volume[x]);
      after[x] = mass;
      before[x] = mass - node_flux[x - node] + node_flux[x];
    }
  }
}

template <std::size_t axis>
void move_velocity(Gas& gas, Array& velocity) {
  const NodesAlong<axis> along(gas, -1, 1);
  const std::int64_t node = stride<axis>(velocity);
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = along.y_begin; y < along.y_end; ++y) {
    const double *node_flux = gas.node_flux.row(y), *mass = gas.node_mass_before.row(y), *speed = velocity.row(y);
    const double* width = gas.cell_width[axis].data() + kHalo + (axis == 1 ? y : 0);
    double* momentum_flux = gas.momentum_flux.row(y);
#pragma GCC ivdep
    for (std::int64_t x = along.x_begin; x < along.x_end; ++x) {
      const double flux = node_flux[x];
      const bool down = flux < 0.0;
      const double before = speed[x - node], first = speed[x], second = speed[x + node], after = speed[x + 2 * node];
      const double mass_first = mass[x], mass_second = mass[x + node];
      const std::int64_t at = axis == 0 ? x : 0;
      const double width_before = width[at - 1], here = width[at], width_second = width[at + 1];
      const double donor = down ? second : first;
      const double up = donor - (down ? after : before), ahead = (down ? first : second) - donor;
      const double share = std::abs(flux) / (down ? mass_second : mass_first);
      const double behind = down ? width_second : width_before;
      const double mean = here * ((2.0 - share) * std::abs(ahead) / here + (1.0 + share) * std::abs(up) / behind) / 6.0;
      const double size = std::min(mean, std::min(std::abs(up), std::abs(ahead)));
      const double limiter = up * ahead > 0.0 ? std::copysign(size, ahead) : 0.0;
      momentum_flux[x] = (donor + (1.0 - share) * limiter) * flux;
    }
  }
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y <= gas.ny; ++y) {
    const double *before = gas.node_mass_before.row(y), *after = gas.node_mass_after.row(y);
    const double* momentum_flux = gas.momentum_flux.row(y);
    double* speed = velocity.row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x <= gas.nx; ++x)
      speed[x] = (speed[x] * before[x] + momentum_flux[x - node] - momentum_flux[x]) / after[x];
  }
}

template <std::size_t axis, bool first>
void sweep(Gas& gas) {
  cell_volumes<axis, first>(gas);
  face_fluxes<axis>(gas);
  move_cells<axis>(gas);
  update(gas,
         {{&gas.density1},
          {&gas.energy1},
          {&gas.velocity1[0], Halo::Kind::node, 0},
          {&gas.velocity1[1], Halo::Kind::node, 1},
          {&gas.mass_flux[0], Halo::Kind::flux, 0},
          {&gas.mass_flux[1], Halo::Kind::flux, 1}},
         2);
  node_volumes<axis, first>(gas);
  node_masses<axis>(gas);
  move_velocity<axis>(gas, gas.velocity1[0]);
  node_volumes<axis, first>(gas);
  move_velocity<axis>(gas, gas.velocity1[1]);
}

}  // namespace

void advect(Gas& gas, bool x_first) {
  update(gas,
         {{&gas.energy1},
          {&gas.density1},
          {&gas.volume_flux[0], Halo::Kind::flux, 0},
          {&gas.volume_flux[1], Halo::Kind::flux, 1}},
         2);
  if (x_first) {
    sweep<0, true>(gas);
    sweep<1, false>(gas);
  } else {
    sweep<1, true>(gas);
    sweep<0, false>(gas);
  }
}

}  // namespace perdure::plain
