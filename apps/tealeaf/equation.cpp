#include "equation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tealeaf {
namespace {

using mesh::box;
using mesh::index;
using mesh::into;
using mesh::read;
using mesh::read_write;
using mesh::Stencil;
using mesh::write;

// One of the preconditioners solves blocks of so many cells in y exactly.
constexpr std::int64_t kBlock = 4;

std::int64_t halo_of(const Deck& deck) { return deck.preconditioner == Preconditioner::block ? kBlock - 1 : 1; }

// Moves edges of states slightly inwards, so that an edge between cells is clearly on one side.
std::vector<State> drawn_in(const Deck& deck) {
  std::vector<State> states = deck.states;
  for (std::size_t i = 1; i < states.size(); ++i) {
    states[i].xmin += deck.dx() / 100;
    states[i].ymin += deck.dy() / 100;
    states[i].xmax -= deck.dx() / 100;
    states[i].ymax -= deck.dy() / 100;
  }
  return states;
}

bool covers(const State& state, const Deck& deck, const mesh::Index& at) {
  const auto vertex_x = [&](std::int64_t j) { return deck.xmin + deck.dx() * static_cast<double>(j); };
  const auto vertex_y = [&](std::int64_t k) { return deck.ymin + deck.dy() * static_cast<double>(k); };
  const double left = vertex_x(at[0]), right = vertex_x(at[0] + 1);
  const double bottom = vertex_y(at[1]), top = vertex_y(at[1] + 1);
  switch (state.geometry) {
    case State::Geometry::rectangle:
      return right >= state.xmin && left < state.xmax && top >= state.ymin && bottom < state.ymax;
    case State::Geometry::circle: {
      const double x = 0.5 * (left + right) - state.xmin, y = 0.5 * (bottom + top) - state.ymin;
      return std::sqrt(x * x + y * y) <= state.radius;
    }
    case State::Geometry::point:
      return left == state.xmin && bottom == state.ymin;
  }
  return false;
}

}  // namespace

Equation::Equation(mesh::Mesh& all, const Deck& input)
    : run(all),
      deck(input),
      block(run.block("domain", {deck.x_cells, deck.y_cells}, halo_of(deck))),
      cells(box({{0, deck.x_cells}, {0, deck.y_cells}})),
      a{deck.time_step / (deck.dx() * deck.dx()), deck.time_step / (deck.dy() * deck.dy())} {
  if (deck.preconditioner == Preconditioner::diagonal) mi_ = &field("Mi");
  if (deck.preconditioner == Preconditioner::block) cp_ = &field("tri_cp"), bfp_ = &field("tri_bfp");
}

mesh::Shape Equation::shape(const mesh::Index& more) const {
  mesh::Shape made;
  made.more = more;
  made.halo = halo_of(deck);
  return made;
}

void Equation::initialise() {
  run.par_loop(
      "initial state", block, cells,
      [states = drawn_in(deck), input = deck](auto& rho, auto& e, const mesh::Index& at) {
        rho(0, 0) = states.front().density;
        e(0, 0) = states.front().energy;
        for (std::size_t i = 1; i < states.size(); ++i) {
          if (!covers(states[i], input, at)) continue;
          rho(0, 0) = states[i].density;
          e(0, 0) = states[i].energy;
        }
      },
      write(density), write(energy0), index());
  run.par_loop(
      "set field", block, cells,
      [](auto& e1, auto& all_u, const auto& e0, const auto& rho) {
        e1(0, 0) = e0(0, 0);
        all_u(0, 0) = e0(0, 0) * rho(0, 0);
      },
      write(energy1), write(u), read(energy0), read(density));
}

void Equation::assemble() {
  run.par_loop(
      "u of energy", block, cells,
      [](auto& now, auto& start, const auto& e, const auto& rho) {
        now(0, 0) = e(0, 0) * rho(0, 0);
        start(0, 0) = now(0, 0);
      },
      write(u), write(u0), read(energy1), read(density));
  mirror(density);
  const std::int64_t more = deck.reflective_boundary ? 1 : 0;
  const auto haloed = box({{-more, deck.x_cells + more}, {-more, deck.y_cells + more}});
  const auto conductivity = [inverse = deck.inverse_density](auto& out, const auto& rho) {
    out(0, 0) = inverse ? 1.0 / rho(0, 0) : rho(0, 0);
  };
  if (more == 0) {
    run.par_loop("conductivity", block, haloed, conductivity, write(w), read(density));
  } else {  // at cells and those beside them; corners are left out, because they are never mirrored
    run.par_loop("conductivity", block, box({{-1, deck.x_cells + 1}, {0, deck.y_cells}}), conductivity, write(w),
                 read(density));
    run.par_loop("conductivity below", block, box({{0, deck.x_cells}, {-1, 0}}), conductivity, write(w), read(density));
    run.par_loop("conductivity above", block, box({{0, deck.x_cells}, {deck.y_cells, deck.y_cells + 1}}), conductivity,
                 write(w), read(density));
  }
  conduct(w);
  run.par_loop(
      "diagonal", block, cells,
      [op = a](auto& d, const auto& x, const auto& y) {
        d(0, 0) = 1.0 + op.ry * (y(0, 1) + y(0, 0)) + op.rx * (x(1, 0) + x(0, 0));
      },
      write(di), read(kx, to_right), read(ky, to_top));
  if (deck.preconditioner == Preconditioner::diagonal)
    run.par_loop(
        "inverse diagonal", block, cells, [](auto& m, const auto& d) { m(0, 0) = 1.0 / d(0, 0); }, write(*mi_),
        read(di));
  if (deck.preconditioner == Preconditioner::block) invert_blocks();
  mirror(u);
}

// Computes conductivity between two cells each. It is zero at the edges of the domain, unless halos are mirrored there.
void Equation::conduct(Field& conductivity) {
  const std::int64_t nx = deck.x_cells, ny = deck.y_cells, edge = deck.reflective_boundary ? 0 : 1;
  run.par_loop(
      "faces in x", block, box({{edge, nx + 1 - edge}, {0, ny}}),
      [](auto& k, const auto& c) { k(0, 0) = (c(-1, 0) + c(0, 0)) / (2.0 * c(-1, 0) * c(0, 0)); }, write(kx),
      read(conductivity, Stencil::from_to({-1, 0}, {0, 0})));
  run.par_loop(
      "faces in y", block, box({{0, nx}, {edge, ny + 1 - edge}}),
      [](auto& k, const auto& c) { k(0, 0) = (c(0, -1) + c(0, 0)) / (2.0 * c(0, -1) * c(0, 0)); }, write(ky),
      read(conductivity, Stencil::from_to({0, -1}, {0, 0})));
  if (deck.reflective_boundary) return;
  const auto none = [](auto& k) { k(0, 0) = 0.0; };
  run.par_loop("left faces", block, box({{0, 1}, {0, ny}}), none, write(kx));
  run.par_loop("right faces", block, box({{nx, nx + 1}, {0, ny}}), none, write(kx));
  run.par_loop("bottom faces", block, box({{0, nx}, {0, 1}}), none, write(ky));
  run.par_loop("top faces", block, box({{0, nx}, {ny, ny + 1}}), none, write(ky));
}

void Equation::reflect(Field& field) {
  const std::int64_t nx = deck.x_cells, ny = deck.y_cells;
  const auto mirrored = [&](mesh::LoopName name, const mesh::Box& range, std::int64_t dx, std::int64_t dy) {
    run.par_loop(
        name, block, range, [dx, dy](auto& out, const auto& in) { out(0, 0) = in(dx, dy); }, write(field),
        read(field, Stencil::from_to({dx, dy}, {dx, dy})));
  };
  mirrored("mirror left", box({{-1, 0}, {0, ny}}), 1, 0);
  mirrored("mirror right", box({{nx, nx + 1}, {0, ny}}), -1, 0);
  mirrored("mirror bottom", box({{0, nx}, {-1, 0}}), 0, 1);
  mirrored("mirror top", box({{0, nx}, {ny, ny + 1}}), 0, -1);
}

double Equation::residual() {
  with_operator(
      "residual", u,
      [op = a](const auto& x, const auto& faces_x, const auto& faces_y, const auto& d, auto& out, const auto& start,
               double& squares) {
        out(0, 0) = start(0, 0) - op(x, faces_x, faces_y, d);
        squares += out(0, 0) * out(0, 0);
      },
      write(r), read(u0), into(sum_));
  return run.collect(sum_);
}

void Equation::finish() {
  run.par_loop(
      "energy of u", block, cells, [](auto& e, const auto& x, const auto& rho) { e(0, 0) = x(0, 0) / rho(0, 0); },
      write(energy1), read(u), read(density));
}

Summary Equation::summary() {
  auto volume = run.sum(), mass = run.sum(), energy = run.sum(), all_u = run.sum();
  run.par_loop(
      "summary", block, cells,
      [cell = deck.dx() * deck.dy()](const auto& rho, const auto& e, const auto& x, double& v, double& m, double& ie,
                                     double& temperature) {
        v += cell;
        m += cell * rho(0, 0);
        ie += cell * rho(0, 0) * e(0, 0);
        temperature += cell * rho(0, 0) * x(0, 0);
      },
      read(density), read(energy1), read(u), into(volume), into(mass), into(energy), into(all_u));
  run.collect({&volume, &mass, &energy, &all_u});
  return {volume.value(), mass.value(), energy.value(), all_u.value()};
}

void Equation::precondition(Field& from, Field& to) {
  if (deck.preconditioner == Preconditioner::block) return precondition_blocks(from, to);
  run.par_loop(
      "diagonal preconditioner", block, cells,
      [](auto& z, const auto& x, const auto& m) { z(0, 0) = m(0, 0) * x(0, 0); }, write(to), read(from), read(*mi_));
}

// Factors each block's tridiagonal matrix. A loop must not read elements that it writes elsewhere, so each cell starts
// again from its block's first one.
void Equation::invert_blocks() {
  const auto down = Stencil::from_to({0, 1 - kBlock}, {0, 0});
  run.par_loop(
      "factors of blocks", block, cells,
      [ry = a.ry](auto& cp, auto& bfp, const auto& d, const auto& y, const mesh::Index& at) {
        double c = 0, b = 0;
        for (std::int64_t dy = -(at[1] % kBlock); dy <= 0; ++dy) {
          b = 1.0 / (d(0, dy) - (-y(0, dy) * ry) * c);
          c = -y(0, dy + 1) * ry * b;
        }
        cp(0, 0) = c;
        bfp(0, 0) = b;
      },
      write(*cp_), write(*bfp_), read(di, down), read(ky, Stencil::from_to({0, 1 - kBlock}, {0, 1})), index());
}

void Equation::precondition_blocks(Field& from, Field& to) {
  const auto column = Stencil::from_to({0, 1 - kBlock}, {0, kBlock - 1});
  run.par_loop(
      "block preconditioner", block, cells,
      [ry = a.ry, ny = deck.y_cells](auto& z, const auto& x, const auto& cp, const auto& bfp, const auto& y,
                                     const mesh::Index& at) {
        const std::int64_t first = -(at[1] % kBlock), last = std::min(first + kBlock, ny - at[1]) - 1;
        std::array<double, kBlock> forward{};
        double d = 0;
        for (std::int64_t dy = first; dy <= last; ++dy) {
          d = (x(0, dy) - (dy == first ? 0.0 : -y(0, dy) * ry * d)) * bfp(0, dy);
          forward[static_cast<std::size_t>(dy - first)] = d;
        }
        for (std::int64_t dy = last - 1; dy >= 0; --dy)
          d = forward[static_cast<std::size_t>(dy - first)] - cp(0, dy) * d;
        z(0, 0) = d;
      },
      write(to), read(from, column), read(*cp_, Stencil::from_to({0, 0}, {0, kBlock - 1})), read(*bfp_, column),
      read(ky, column), index());
}

}  // namespace tealeaf
