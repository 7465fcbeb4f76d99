#include "flow.hpp"

#include <cmath>
#include <numbers>

namespace taylor_green {
namespace {

using mesh::box;
using mesh::index;
using mesh::into;
using mesh::read;
using mesh::read_write;
using mesh::Stencil;
using mesh::write;

constexpr std::int64_t kHalo = 2;

const Stencil& star() {
  static const Stencil all = Stencil::star(3, kHalo);
  return all;
}
const Stencil& row(unsigned dimension) {
  const auto make = [](unsigned d) {
    mesh::Index first{}, last{};
    first[d] = -kHalo;
    last[d] = kHalo;
    return Stencil::from_to(first, last);
  };
  static const Stencil all[] = {make(0), make(1), make(2)};
  return all[dimension];
}
// Returns the stencil of the two planes that meet in a dimension's axis.
const Stencil& planes_of(unsigned dimension) {
  static const Stencil xy = Stencil::from_to({-kHalo, -kHalo, 0}, {kHalo, kHalo, 0});
  static const Stencil xz = Stencil::from_to({-kHalo, 0, -kHalo}, {kHalo, 0, kHalo});
  static const Stencil yz = Stencil::from_to({0, -kHalo, -kHalo}, {0, kHalo, kHalo});
  static const Stencil all[] = {xy + xz, xy + yz, xz + yz};
  return all[dimension];
}

double square(double value) { return value * value; }

}  // namespace

Flow::Flow(mesh::Mesh& all, std::int64_t cells, const Gas& gas)
    : run_(all),
      gas_(gas),
      n_(cells),
      block_(all.block("cube", {cells, cells, cells}, kHalo)),
      cells_(box({{0, n_}, {0, n_}, {0, n_}})),
      haloed_(box({{-kHalo, n_ + kHalo}, {-kHalo, n_ + kHalo}, {-kHalo, n_ + kHalo}})),
      difference_{2 * std::numbers::pi / static_cast<double>(cells)},
      rho_(field("rho", kHalo)),
      mx_(field("rho_u", kHalo)),
      my_(field("rho_v", kHalo)),
      mz_(field("rho_w", kHalo)),
      e_(field("rho_E", kHalo)),
      u_(field("u", kHalo)),
      v_(field("v", kHalo)),
      w_(field("w", kHalo)),
      p_(field("p", kHalo)),
      t_(field("T", kHalo)),
      h_(field("H", kHalo)),
      conserved_{&rho_, &mx_, &my_, &mz_, &e_},
      rates_{&field("rate_rho", 0), &field("rate_rho_u", 0), &field("rate_rho_v", 0), &field("rate_rho_w", 0),
             &field("rate_rho_E", 0)},
      changes_{&field("change_rho", 0), &field("change_rho_u", 0), &field("change_rho_v", 0), &field("change_rho_w", 0),
               &field("change_rho_E", 0)} {}

Field& Flow::field(const char* name, std::int64_t halo) {
  mesh::Shape shape;
  shape.halo = halo;
  return run_.data(block_, name, shape);
}

// The temperature is uniform.
void Flow::initialise() {
  run_.par_loop(
      "vortex", block_, cells_,
      [gas = gas_, h = difference_.spacing](auto& rho, auto& mx, auto& my, auto& mz, auto& e, const mesh::Index& at) {
        const double x = h * static_cast<double>(at[0]), y = h * static_cast<double>(at[1]);
        const double z = h * static_cast<double>(at[2]);
        const double u = std::sin(x) * std::cos(y) * std::cos(z), v = -std::cos(x) * std::sin(y) * std::cos(z);
        const double p = gas.pressure() + (std::cos(2 * x) + std::cos(2 * y)) * (std::cos(2 * z) + 2) / 16;
        const double density = p / gas.pressure();
        rho(0, 0, 0) = density;
        mx(0, 0, 0) = density * u;
        my(0, 0, 0) = density * v;
        mz(0, 0, 0) = 0;
        e(0, 0, 0) = p / (gas.gamma - 1) + 0.5 * density * (u * u + v * v);
      },
      write(rho_), write(mx_), write(my_), write(mz_), write(e_), index());
}

// Uses Williamson's scheme, which keeps one change beside the state. The first stage needs no earlier change.
void Flow::advance(double time_step) {
  for (std::size_t stage = 0; stage < 3; ++stage) {
    complete();
    convect();
    if (gas_.viscosity() > 0) diffuse();
    go_on(stage, time_step);
  }
}

void Flow::go_on(std::size_t stage, double time_step) {
  constexpr double kKeep[] = {0, -5.0 / 9, -153.0 / 128}, kGo[] = {1.0 / 3, 15.0 / 16, 8.0 / 15};
  for (std::size_t i = 0; i < kConserved; ++i) {
    if (stage == 0)
      run_.par_loop(
          "first stage", block_, cells_,
          [time_step, go = kGo[0]](auto& value, auto& change, const auto& rate) {
            change(0, 0, 0) = time_step * rate(0, 0, 0);
            value(0, 0, 0) += go * change(0, 0, 0);
          },
          read_write(*conserved_[i]), write(*changes_[i]), read(*rates_[i]));
    else
      run_.par_loop(
          "stage", block_, cells_,
          [time_step, keep = kKeep[stage], go = kGo[stage]](auto& value, auto& change, const auto& rate) {
            change(0, 0, 0) = keep * change(0, 0, 0) + time_step * rate(0, 0, 0);
            value(0, 0, 0) += go * change(0, 0, 0);
          },
          read_write(*conserved_[i]), read_write(*changes_[i]), read(*rates_[i]));
  }
}

// Copies the halo at both ends of a dimension from the other end. It includes the halos of earlier dimensions, so that
// corners are filled.
void Flow::wrap(mesh::LoopName name, unsigned dimension) {
  mesh::Box below = haloed_, above = haloed_;
  for (unsigned d = dimension + 1; d < 3; ++d) {
    below.begin[d] = above.begin[d] = 0;
    below.end[d] = above.end[d] = n_;
  }
  below.end[dimension] = 0;
  above.begin[dimension] = n_;
  mesh::Index up{}, down{};
  up[dimension] = n_;
  down[dimension] = -n_;
  std::array<mesh::Transfer, 2 * kConserved> transfers;
  for (std::size_t i = 0; i < kConserved; ++i) {
    transfers[2 * i] = {conserved_[i], below, conserved_[i], up};
    transfers[2 * i + 1] = {conserved_[i], above, conserved_[i], down};
  }
  run_.transfer(name, transfers);
}

// Fills halos, and computes the fields that follow from the state.
void Flow::complete() {
  wrap("periodic in x", 0);
  wrap("periodic in y", 1);
  wrap("periodic in z", 2);
  run_.par_loop(
      "velocity and pressure", block_, haloed_,
      [gas = gas_](auto& u, auto& v, auto& w, auto& p, auto& t, auto& h, const auto& rho, const auto& mx,
                   const auto& my, const auto& mz, const auto& e) {
        const double specific = 1 / rho(0, 0, 0);
        u(0, 0, 0) = mx(0, 0, 0) * specific;
        v(0, 0, 0) = my(0, 0, 0) * specific;
        w(0, 0, 0) = mz(0, 0, 0) * specific;
        const double kinetic = 0.5 * specific * (square(mx(0, 0, 0)) + square(my(0, 0, 0)) + square(mz(0, 0, 0)));
        const double pressure = (gas.gamma - 1) * (e(0, 0, 0) - kinetic);
        p(0, 0, 0) = pressure;
        t(0, 0, 0) = pressure * specific / gas.pressure();
        h(0, 0, 0) = (e(0, 0, 0) + pressure) * specific;
      },
      write(u_), write(v_), write(w_), write(p_), write(t_), write(h_), read(rho_), read(mx_), read(my_), read(mz_),
      read(e_));
}

void Flow::convect() {
  run_.par_loop(
      "convection", block_, cells_,
      [d = difference_](auto& rate_rho, auto& rate_mx, auto& rate_my, auto& rate_mz, auto& rate_e, const auto& mx,
                        const auto& my, const auto& mz, const auto& u, const auto& v, const auto& w, const auto& p,
                        const auto& h) {
        const double x = d.template slope<0>(mx), y = d.template slope<1>(my), z = d.template slope<2>(mz);
        const auto carried = [&](const auto& value) {
          return d.template carried<0>(mx, value, x) + d.template carried<1>(my, value, y) +
                 d.template carried<2>(mz, value, z);
        };
        rate_rho(0, 0, 0) = -(x + y + z);
        rate_mx(0, 0, 0) = -carried(u) - d.template slope<0>(p);
        rate_my(0, 0, 0) = -carried(v) - d.template slope<1>(p);
        rate_mz(0, 0, 0) = -carried(w) - d.template slope<2>(p);
        rate_e(0, 0, 0) = -carried(h);
      },
      write(*rates_[0]), write(*rates_[1]), write(*rates_[2]), write(*rates_[3]), write(*rates_[4]), read(mx_, row(0)),
      read(my_, row(1)), read(mz_, row(2)), read(u_, star()), read(v_, star()), read(w_, star()), read(p_, star()),
      read(h_, star()));
}

void Flow::diffuse() {
  run_.par_loop(
      "diffusion", block_, cells_,
      [d = difference_, mu = gas_.viscosity(), k = gas_.conductivity()](auto& rate_mx, auto& rate_my, auto& rate_mz,
                                                                        auto& rate_e, const auto& u, const auto& v,
                                                                        const auto& w, const auto& t) {
        const double ux = d.template slope<0>(u), uy = d.template slope<1>(u), uz = d.template slope<2>(u);
        const double vx = d.template slope<0>(v), vy = d.template slope<1>(v), vz = d.template slope<2>(v);
        const double wx = d.template slope<0>(w), wy = d.template slope<1>(w), wz = d.template slope<2>(w);
        const double squeeze_x = d.template bend<0>(u) + d.template cross<0, 1>(v) + d.template cross<0, 2>(w);
        const double squeeze_y = d.template cross<0, 1>(u) + d.template bend<1>(v) + d.template cross<1, 2>(w);
        const double squeeze_z = d.template cross<0, 2>(u) + d.template cross<1, 2>(v) + d.template bend<2>(w);
        const double fx = mu * (d.laplacian(u) + squeeze_x / 3), fy = mu * (d.laplacian(v) + squeeze_y / 3);
        const double fz = mu * (d.laplacian(w) + squeeze_z / 3);
        const double heat = mu * (2 * (ux * ux + vy * vy + wz * wz) + square(uy + vx) + square(uz + wx) +
                                  square(vz + wy) - square(ux + vy + wz) * 2 / 3);
        rate_mx(0, 0, 0) += fx;
        rate_my(0, 0, 0) += fy;
        rate_mz(0, 0, 0) += fz;
        rate_e(0, 0, 0) += u(0, 0, 0) * fx + v(0, 0, 0) * fy + w(0, 0, 0) * fz + heat + k * d.laplacian(t);
      },
      read_write(*rates_[1]), read_write(*rates_[2]), read_write(*rates_[3]), read_write(*rates_[4]),
      read(u_, planes_of(0)), read(v_, planes_of(1)), read(w_, planes_of(2)), read(t_, star()));
}

Means Flow::means() {
  complete();
  auto energy = run_.sum(), enstrophy = run_.sum();
  const auto across = [](unsigned dimension) { return row((dimension + 1) % 3) + row((dimension + 2) % 3); };
  const Stencil yz = across(0), zx = across(1), xy = across(2);
  run_.par_loop(
      "means", block_, cells_,
      [d = difference_](const auto& rho, const auto& u, const auto& v, const auto& w, double& kinetic,
                        double& vorticity) {
        const double x = d.template slope<1>(w) - d.template slope<2>(v);
        const double y = d.template slope<2>(u) - d.template slope<0>(w);
        const double z = d.template slope<0>(v) - d.template slope<1>(u);
        kinetic += 0.5 * rho(0, 0, 0) * (square(u(0, 0, 0)) + square(v(0, 0, 0)) + square(w(0, 0, 0)));
        vorticity += 0.5 * (x * x + y * y + z * z);
      },
      read(rho_), read(u_, yz), read(v_, zx), read(w_, xy), into(energy), into(enstrophy));
  run_.collect({&energy, &enstrophy});
  const double cells = static_cast<double>(n_) * static_cast<double>(n_) * static_cast<double>(n_);
  return {energy.value() / cells, enstrophy.value() / cells};
}

}  // namespace taylor_green
