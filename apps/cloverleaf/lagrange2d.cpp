// Moves cells with their content for one time step, in two dimensions.
#include <algorithm>
#include <cmath>

#include "hydro.hpp"

namespace clover {
namespace {

// Offsets of a cell's nodes, and of the cells around a node.
const Stencil kNodes = Stencil::from_to({0, 0}, {1, 1});
const Stencil kAround = Stencil::from_to({-1, -1}, {0, 0});
const Stencil kAcross = Stencil::from_to({0, 0}, {1, 0});
const Stencil kUp = Stencil::from_to({0, 0}, {0, 1});

}  // namespace

void artificial_viscosity(Fields& fields) {
  static const Stencil star = Stencil::star(2);
  fields.loop(
      "viscosity", fields.cells(),
      [](auto& viscosity, const auto& rho, const auto& p, const auto& u, const auto& v, const auto& dx,
         const auto& dy) {
        const double du = (u(1, 0) + u(1, 1)) - (u(0, 0) + u(0, 1));
        const double dv = (v(0, 1) + v(1, 1)) - (v(0, 0) + v(1, 0));
        const double divergence = dx(0) * du + dy(0) * dv;
        const double shear = 0.5 * (u(0, 1) + u(1, 1) - u(0, 0) - u(1, 0)) / dy(0) +
                             0.5 * (v(1, 0) + v(1, 1) - v(0, 0) - v(0, 1)) / dx(0);
        const double px = (p(1, 0) - p(-1, 0)) / (dx(0) + dx(1)), py = (p(0, 1) - p(0, -1)) / (dy(0) + dy(1));
        const double px2 = px * px, py2 = py * py;
        const double limiter =
            ((0.5 * du / dx(0)) * px2 + (0.5 * dv / dy(0)) * py2 + shear * px * py) / std::max(px2 + py2, 1.0e-16);
        const double ax = std::max(1.0e-16, std::abs(px)), ay = std::max(1.0e-16, std::abs(py));
        const double slope = std::sqrt(ax * ax + ay * ay);
        const double length = std::min(std::abs(dx(0) * slope / ax), std::abs(dy(0) * slope / ay));
        const bool spreads = (limiter > 0.0) | (divergence >= 0.0);
        const double strength = spreads ? 0.0 : limiter;
        viscosity(0) = 2.0 * rho(0) * (length * length) * strength * strength;
      },
      write(fields.viscosity), read(fields.density0), read(fields.pressure, star), read(*fields.velocity0[0], kNodes),
      read(*fields.velocity0[1], kNodes), along(fields.cell_width[0]), along(fields.cell_width[1]));
}

std::vector<Limit> limits(Fields& fields) {
  auto sound = fields.mesh.least(), across = fields.mesh.least(), up = fields.mesh.least(),
       spread = fields.mesh.least();
  fields.loop(
      "time step", fields.cells(),
      [](const auto& speed, const auto& q, const auto& rho, const auto& u, const auto& v, const auto& xarea,
         const auto& yarea, const auto& volume, const auto& dx, const auto& dy, double& of_sound, double& of_x,
         double& of_y, double& of_spread) {
        const double cc = speed(0, 0) * speed(0, 0) + 2.0 * q(0, 0) / rho(0, 0);
        const double small = kSmall * volume(0, 0);
        const double left = (u(0, 0) + u(0, 1)) * xarea(0, 0), right = (u(1, 0) + u(1, 1)) * xarea(1, 0);
        const double bottom = (v(0, 0) + v(1, 0)) * yarea(0, 0), top = (v(0, 1) + v(1, 1)) * yarea(0, 1);
        const double divergence = (right - left + (top - bottom)) / (2.0 * volume(0, 0));
        of_sound = std::min(of_sound, 0.7 * std::min(dx(0), dy(0)) / std::max(std::sqrt(cc), kSmall));
        of_x = std::min(of_x, 0.5 * 2.0 * volume(0, 0) / std::max(std::max(std::abs(left), std::abs(right)), small));
        of_y = std::min(of_y, 0.5 * 2.0 * volume(0, 0) / std::max(std::max(std::abs(bottom), std::abs(top)), small));
        of_spread = std::min(of_spread, divergence < -kSmall ? 0.7 * (-1.0 / divergence) : kBig);
      },
      read(fields.soundspeed), read(fields.viscosity), read(fields.density0), read(*fields.velocity0[0], kNodes),
      read(*fields.velocity0[1], kNodes), read(*fields.area[0], kAcross), read(*fields.area[1], kUp),
      read(fields.volume), along(fields.cell_width[0]), along(fields.cell_width[1]), into(sound), into(across),
      into(up), into(spread));
  fields.mesh.collect({&sound, &across, &up, &spread});
  return {{"sound", sound.value()}, {"xvel", across.value()}, {"yvel", up.value()}, {"div", spread.value()}};
}

void predict(Fields& fields, double dt) {
  fields.loop(
      "work, half a step", fields.cells(),
      [=](auto& density1, auto& energy1, const auto& rho, const auto& e, const auto& p, const auto& q, const auto& u,
          const auto& v, const auto& xarea, const auto& yarea, const auto& volume) {
        const double part = 0.25 * dt * 0.5;
        const double left = xarea(0, 0) * (2.0 * (u(0, 0) + u(0, 1))) * part;
        const double right = xarea(1, 0) * (2.0 * (u(1, 0) + u(1, 1))) * part;
        const double bottom = yarea(0, 0) * (2.0 * (v(0, 0) + v(1, 0))) * part;
        const double top = yarea(0, 1) * (2.0 * (v(0, 1) + v(1, 1))) * part;
        const double growth = right - left + top - bottom;
        energy1(0) = e(0) - (p(0) / rho(0) + q(0) / rho(0)) * growth * (1.0 / volume(0));
        density1(0) = rho(0) * (volume(0) / (volume(0) + growth));
      },
      write(fields.density1), write(fields.energy1), read(fields.density0), read(fields.energy0), read(fields.pressure),
      read(fields.viscosity), read(*fields.velocity0[0], kNodes), read(*fields.velocity0[1], kNodes),
      read(*fields.area[0], kAcross), read(*fields.area[1], kUp), read(fields.volume));
}

void correct(Fields& fields, double dt) {
  fields.loop(
      "work", fields.cells(),
      [=](auto& density1, auto& energy1, const auto& rho, const auto& e, const auto& p, const auto& q, const auto& u0,
          const auto& v0, const auto& u1, const auto& v1, const auto& xarea, const auto& yarea, const auto& volume) {
        const double part = 0.25 * dt;
        const double left = xarea(0, 0) * (u0(0, 0) + u0(0, 1) + u1(0, 0) + u1(0, 1)) * part;
        const double right = xarea(1, 0) * (u0(1, 0) + u0(1, 1) + u1(1, 0) + u1(1, 1)) * part;
        const double bottom = yarea(0, 0) * (v0(0, 0) + v0(1, 0) + v1(0, 0) + v1(1, 0)) * part;
        const double top = yarea(0, 1) * (v0(0, 1) + v0(1, 1) + v1(0, 1) + v1(1, 1)) * part;
        const double growth = right - left + top - bottom;
        energy1(0) = e(0) - (p(0) / rho(0) + q(0) / rho(0)) * growth * (1.0 / volume(0));
        density1(0) = rho(0) * (volume(0) / (volume(0) + growth));
      },
      write(fields.density1), write(fields.energy1), read(fields.density0), read(fields.energy0), read(fields.pressure),
      read(fields.viscosity), read(*fields.velocity0[0], kNodes), read(*fields.velocity0[1], kNodes),
      read(*fields.velocity1[0], kNodes), read(*fields.velocity1[1], kNodes), read(*fields.area[0], kAcross),
      read(*fields.area[1], kUp), read(fields.volume));
}

void accelerate(Fields& fields, double dt) {
  static const Stencil left = Stencil::from_to({-1, 0}, {0, 0}), below = Stencil::from_to({0, -1}, {0, 0});
  fields.loop(
      "accelerate", fields.nodes(),
      [=](auto& u1, auto& v1, const auto& u0, const auto& v0, const auto& rho, const auto& volume, const auto& p,
          const auto& q, const auto& xarea, const auto& yarea) {
        const double mass = (rho(-1, -1) * volume(-1, -1) + rho(0, -1) * volume(0, -1) + rho(0, 0) * volume(0, 0) +
                             rho(-1, 0) * volume(-1, 0)) *
                            0.25;
        const double by = 0.5 * dt / mass;
        const auto push_x = [&](const auto& a) {
          return by * (xarea(0, 0) * (a(0, 0) - a(-1, 0)) + xarea(0, -1) * (a(0, -1) - a(-1, -1)));
        };
        const auto push_y = [&](const auto& a) {
          return by * (yarea(0, 0) * (a(0, 0) - a(0, -1)) + yarea(-1, 0) * (a(-1, 0) - a(-1, -1)));
        };
        u1(0, 0) = u0(0, 0) - push_x(p) - push_x(q);
        v1(0, 0) = v0(0, 0) - push_y(p) - push_y(q);
      },
      write(*fields.velocity1[0]), write(*fields.velocity1[1]), read(*fields.velocity0[0]), read(*fields.velocity0[1]),
      read(fields.density0, kAround), read(fields.volume, kAround), read(fields.pressure, kAround),
      read(fields.viscosity, kAround), read(*fields.area[0], below), read(*fields.area[1], left));
}

void volume_fluxes(Fields& fields, double dt) {
  fields.loop(
      "volume fluxes across x", fields.faces(0),
      [=](auto& flux, const auto& area, const auto& u0, const auto& u1) {
        flux(0) = 0.25 * dt * area(0) * (u0(0, 0) + u0(0, 1) + u1(0, 0) + u1(0, 1));
      },
      write(*fields.volume_flux[0]), read(*fields.area[0]), read(*fields.velocity0[0], kUp),
      read(*fields.velocity1[0], kUp));
  fields.loop(
      "volume fluxes across y", fields.faces(1),
      [=](auto& flux, const auto& area, const auto& v0, const auto& v1) {
        flux(0) = 0.25 * dt * area(0) * (v0(0, 0) + v0(1, 0) + v1(0, 0) + v1(1, 0));
      },
      write(*fields.volume_flux[1]), read(*fields.area[1]), read(*fields.velocity0[1], kAcross),
      read(*fields.velocity1[1], kAcross));
}

}  // namespace clover
