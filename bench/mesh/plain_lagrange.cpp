// Moves cells with their content: the kernels of apps/cloverleaf/lagrange2d.cpp and step.cpp as plain loops.
#include <algorithm>
#include <cmath>

#include "plain_gas.hpp"

namespace perdure::plain {
namespace {

constexpr double kSmall = static_cast<double>(1.0e-16F);
constexpr double kBig = static_cast<double>(1.0e21F);

}  // namespace

void copy(const Gas& gas, const Array& from, Array& to) {
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y < gas.ny + to.more[1]; ++y) {
    const double* in = from.row(y);
    double* out = to.row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x < gas.nx + to.more[0]; ++x) out[x] = in[x];
  }
}

void equation_of_state(Gas& gas, const Array& density, const Array& energy) {
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y < gas.ny; ++y) {
    const double *rho = density.row(y), *e = energy.row(y);
    double *pressure = gas.pressure.row(y), *soundspeed = gas.soundspeed.row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x < gas.nx; ++x) {
      const double v = 1.0 / rho[x];
      const double p = (1.4 - 1.0) * rho[x] * e[x];
      const double by_energy = (1.4 - 1.0) * rho[x], by_volume = -rho[x] * p;
      pressure[x] = p;
      soundspeed[x] = std::sqrt(v * v * (p * by_energy - by_volume));
    }
  }
}

void artificial_viscosity(Gas& gas) {
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y < gas.ny; ++y) {
    const double *rho = gas.density0.row(y), *p = gas.pressure.row(y), *below = gas.pressure.row(y - 1),
                 *above = gas.pressure.row(y + 1);
    const double *u = gas.velocity0[0].row(y), *uu = gas.velocity0[0].row(y + 1);
    const double *v = gas.velocity0[1].row(y), *vv = gas.velocity0[1].row(y + 1);
    const double *dx = gas.cell_width[0].data() + kHalo, *dy = gas.cell_width[1].data() + kHalo + y;
    double* viscosity = gas.viscosity.row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x < gas.nx; ++x) {
      const double du = (u[x + 1] + uu[x + 1]) - (u[x] + uu[x]);
      const double dv = (vv[x] + vv[x + 1]) - (v[x] + v[x + 1]);
      const double divergence = dx[x] * du + dy[0] * dv;
      const double shear =
          0.5 * (uu[x] + uu[x + 1] - u[x] - u[x + 1]) / dy[0] + 0.5 * (v[x + 1] + vv[x + 1] - v[x] - vv[x]) / dx[x];
      const double px = (p[x + 1] - p[x - 1]) / (dx[x] + dx[x + 1]), py = (above[x] - below[x]) / (dy[0] + dy[1]);
      const double px2 = px * px, py2 = py * py;
      const double limiter =
          ((0.5 * du / dx[x]) * px2 + (0.5 * dv / dy[0]) * py2 + shear * px * py) / std::max(px2 + py2, 1.0e-16);
      const double ax = std::max(1.0e-16, std::abs(px)), ay = std::max(1.0e-16, std::abs(py));
      const double slope = std::sqrt(ax * ax + ay * ay);
      const double length = std::min(std::abs(dx[x] * slope / ax), std::abs(dy[0] * slope / ay));
      const bool spreads = (limiter > 0.0) | (divergence >= 0.0);
      const double strength = spreads ? 0.0 : limiter;
      viscosity[x] = 2.0 * rho[x] * (length * length) * strength * strength;
    }
  }
}

std::array<double, 4> limits(Gas& gas) {
  double of_sound = 1e300, of_x = 1e300, of_y = 1e300, of_spread = 1e300;
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1) \
    reduction(min                                                                       \
              : of_sound, of_x, of_y, of_spread)
  for (std::int64_t y = 0; y < gas.ny; ++y) {
    const double *speed = gas.soundspeed.row(y), *q = gas.viscosity.row(y), *rho = gas.density0.row(y);
    const double *u = gas.velocity0[0].row(y), *uu = gas.velocity0[0].row(y + 1);
    const double *v = gas.velocity0[1].row(y), *vv = gas.velocity0[1].row(y + 1);
    const double *xarea = gas.area[0].row(y), *yarea = gas.area[1].row(y), *yarea_above = gas.area[1].row(y + 1);
    const double *volume = gas.volume.row(y), *dx = gas.cell_width[0].data() + kHalo;
    const double dy = gas.cell_width[1][static_cast<std::size_t>(y + kHalo)];
    for (std::int64_t x = 0; x < gas.nx; ++x) {
      const double cc = speed[x] * speed[x] + 2.0 * q[x] / rho[x];
      const double small = kSmall * volume[x];
      const double left = (u[x] + uu[x]) * xarea[x], right = (u[x + 1] + uu[x + 1]) * xarea[x + 1];
      const double bottom = (v[x] + v[x + 1]) * yarea[x], top = (vv[x] + vv[x + 1]) * yarea_above[x];
      const double divergence = (right - left + (top - bottom)) / (2.0 * volume[x]);
      of_sound = std::min(of_sound, 0.7 * std::min(dx[x], dy) / std::max(std::sqrt(cc), kSmall));
      of_x = std::min(of_x, 0.5 * 2.0 * volume[x] / std::max(std::max(std::abs(left), std::abs(right)), small));
      of_y = std::min(of_y, 0.5 * 2.0 * volume[x] / std::max(std::max(std::abs(bottom), std::abs(top)), small));
      of_spread = std::min(of_spread, divergence < -kSmall ? 0.7 * (-1.0 / divergence) : kBig);
    }
  }
  std::array<double, 4> all{of_sound, of_x, of_y, of_spread};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), 4, MPI_DOUBLE, MPI_MIN, gas.part.communicator);
  return all;
}

void predict(Gas& gas, double dt) {
  const double part = 0.25 * dt * 0.5;
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y < gas.ny; ++y) {
    const double *rho = gas.density0.row(y), *e = gas.energy0.row(y), *p = gas.pressure.row(y),
                 *q = gas.viscosity.row(y), *volume = gas.volume.row(y);
    const double *u = gas.velocity0[0].row(y), *uu = gas.velocity0[0].row(y + 1);
    const double *v = gas.velocity0[1].row(y), *vv = gas.velocity0[1].row(y + 1);
    const double *xarea = gas.area[0].row(y), *yarea = gas.area[1].row(y), *yarea_above = gas.area[1].row(y + 1);
    double *density1 = gas.density1.row(y), *energy1 = gas.energy1.row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x < gas.nx; ++x) {
      const double left = xarea[x] * (2.0 * (u[x] + uu[x])) * part;
      const double right = xarea[x + 1] * (2.0 * (u[x + 1] + uu[x + 1])) * part;
      const double bottom = yarea[x] * (2.0 * (v[x] + v[x + 1])) * part;
      const double top = yarea_above[x] * (2.0 * (vv[x] + vv[x + 1])) * part;
      const double growth = right - left + top - bottom;
      energy1[x] = e[x] - (p[x] / rho[x] + q[x] / rho[x]) * growth * (1.0 / volume[x]);
      density1[x] = rho[x] * (volume[x] / (volume[x] + growth));
    }
  }
}

void correct(Gas& gas, double dt) {
  const double part = 0.25 * dt;
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y < gas.ny; ++y) {
    const double *rho = gas.density0.row(y), *e = gas.energy0.row(y), *p = gas.pressure.row(y),
                 *q = gas.viscosity.row(y), *volume = gas.volume.row(y);
    const double *u0 = gas.velocity0[0].row(y), *uu0 = gas.velocity0[0].row(y + 1);
    const double *v0 = gas.velocity0[1].row(y), *vv0 = gas.velocity0[1].row(y + 1);
    const double *u1 = gas.velocity1[0].row(y), *uu1 = gas.velocity1[0].row(y + 1);
    const double *v1 = gas.velocity1[1].row(y), *vv1 = gas.velocity1[1].row(y + 1);
    const double *xarea = gas.area[0].row(y), *yarea = gas.area[1].row(y), *yarea_above = gas.area[1].row(y + 1);
    double *density1 = gas.density1.row(y), *energy1 = gas.energy1.row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x < gas.nx; ++x) {
      const double left = xarea[x] * (u0[x] + uu0[x] + u1[x] + uu1[x]) * part;
      const double right = xarea[x + 1] * (u0[x + 1] + uu0[x + 1] + u1[x + 1] + uu1[x + 1]) * part;
      const double bottom = yarea[x] * (v0[x] + v0[x + 1] + v1[x] + v1[x + 1]) * part;
      const double top = yarea_above[x] * (vv0[x] + vv0[x + 1] + vv1[x] + vv1[x + 1]) * part;
      const double growth = right - left + top - bottom;
      energy1[x] = e[x] - (p[x] / rho[x] + q[x] / rho[x]) * growth * (1.0 / volume[x]);
      density1[x] = rho[x] * (volume[x] / (volume[x] + growth));
    }
  }
}

void accelerate(Gas& gas, double dt) {
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y <= gas.ny; ++y) {
    const double *rho = gas.density0.row(y), *rho_below = gas.density0.row(y - 1);
    const double *volume = gas.volume.row(y), *volume_below = gas.volume.row(y - 1);
    const double *p = gas.pressure.row(y), *p_below = gas.pressure.row(y - 1);
    const double *q = gas.viscosity.row(y), *q_below = gas.viscosity.row(y - 1);
    const double *xarea = gas.area[0].row(y), *xarea_below = gas.area[0].row(y - 1), *yarea = gas.area[1].row(y);
    const double *u0 = gas.velocity0[0].row(y), *v0 = gas.velocity0[1].row(y);
    double *u1 = gas.velocity1[0].row(y), *v1 = gas.velocity1[1].row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x <= gas.nx; ++x) {
      const double mass = (rho_below[x - 1] * volume_below[x - 1] + rho_below[x] * volume_below[x] +
                           rho[x] * volume[x] + rho[x - 1] * volume[x - 1]) *
                          0.25;
      const double by = 0.5 * dt / mass;
      u1[x] = u0[x] - by * (xarea[x] * (p[x] - p[x - 1]) + xarea_below[x] * (p_below[x] - p_below[x - 1])) -
              by * (xarea[x] * (q[x] - q[x - 1]) + xarea_below[x] * (q_below[x] - q_below[x - 1]));
      v1[x] = v0[x] - by * (yarea[x] * (p[x] - p_below[x]) + yarea[x - 1] * (p[x - 1] - p_below[x - 1])) -
              by * (yarea[x] * (q[x] - q_below[x]) + yarea[x - 1] * (q[x - 1] - q_below[x - 1]));
    }
  }
}

void volume_fluxes(Gas& gas, double dt) {
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y < gas.ny; ++y) {
    const double *area = gas.area[0].row(y), *u0 = gas.velocity0[0].row(y), *uu0 = gas.velocity0[0].row(y + 1),
                 *u1 = gas.velocity1[0].row(y), *uu1 = gas.velocity1[0].row(y + 1);
    double* flux = gas.volume_flux[0].row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x <= gas.nx; ++x) flux[x] = 0.25 * dt * area[x] * (u0[x] + uu0[x] + u1[x] + uu1[x]);
  }
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1)
  for (std::int64_t y = 0; y <= gas.ny; ++y) {
    const double *area = gas.area[1].row(y), *v0 = gas.velocity0[1].row(y), *v1 = gas.velocity1[1].row(y);
    double* flux = gas.volume_flux[1].row(y);
#pragma GCC ivdep
    for (std::int64_t x = 0; x < gas.nx; ++x) flux[x] = 0.25 * dt * area[x] * (v0[x] + v0[x + 1] + v1[x] + v1[x + 1]);
  }
}

}  // namespace perdure::plain
