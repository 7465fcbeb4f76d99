// Makes the arrays, divides them among ranks, and fills in the deck's initial state.
#include "plain_gas.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <optional>
#include <tuple>

namespace perdure::plain {
namespace {

using clover::State;

bool has(const State& state, const Gas& gas, std::int64_t x, std::int64_t y) {
  const std::int64_t cell[] = {x, y};
  double distance = 0;
  bool in_box = true, at_point = true;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto low = static_cast<std::size_t>(cell[axis] + kHalo);
    const double begin = gas.vertex[axis][low], end = gas.vertex[axis][low + 1];
    in_box = in_box && end >= state.low[axis] && begin < state.high[axis];
    at_point = at_point && begin == state.low[axis];
    const double off = 0.5 * (begin + end) - state.low[axis];
    distance += off * off;
  }
  if (state.geometry == State::Geometry::box) return in_box;
  return state.geometry == State::Geometry::ball ? std::sqrt(distance) <= state.radius : at_point;
}

bool touches(const State& state, const Gas& gas, std::int64_t x, std::int64_t y) {
  return has(state, gas, x, y) || has(state, gas, x - 1, y) || has(state, gas, x, y - 1) ||
         has(state, gas, x - 1, y - 1);
}

void fill(const Array& array, const Gas& gas, double value) {
  for (std::int64_t y = -kHalo; y < gas.ny + array.more[1] + kHalo; ++y)
    std::fill_n(array.row(y) - kHalo, array.pitch, value);
}

}  // namespace

void Array::make(std::int64_t nx, std::int64_t ny, std::int64_t more_x, std::int64_t more_y) {
  more = {more_x, more_y};
  pitch = nx + more_x + 2 * kHalo;
  const auto bytes = static_cast<std::size_t>(pitch * (ny + more_y + 2 * kHalo)) * sizeof(double);
  memory.reset(static_cast<double*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory.get(), 0, bytes);
  origin = memory.get() + kHalo * pitch + kHalo;
}

bool divide(MPI_Comm communicator, std::int64_t nx, std::int64_t ny, Part& part) {
  part.communicator = communicator;
  MPI_Comm_rank(communicator, &part.rank);
  MPI_Comm_size(communicator, &part.ranks);
  part.all = {nx, ny};
  std::optional<std::tuple<std::int64_t, int, int>> best;
  for (int x = 1; x <= part.ranks; ++x) {
    const int y = part.ranks / x;
    if (part.ranks % x != 0 || (x > 1 && nx / x < kHalo) || (y > 1 && ny / y < kHalo)) continue;
    const std::tuple cut((x - 1) * ny + (y - 1) * nx, x, y);
    if (!best || cut < *best) best = cut;
  }
  if (!best) return false;
  part.grid = {std::get<1>(*best), std::get<2>(*best)};
  const std::array<int, 2> at{part.rank % part.grid[0], part.rank / part.grid[0]};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t parts = part.grid[axis], each = part.all[axis] / parts, more = part.all[axis] % parts;
    part.first[axis] = at[axis] * each + std::min<std::int64_t>(at[axis], more);
    part.cells[axis] = each + (at[axis] < more ? 1 : 0);
    const int step = axis == 0 ? 1 : part.grid[0];
    part.neighbour[axis] = {at[axis] == 0 ? -1 : part.rank - step,
                            at[axis] + 1 == part.grid[axis] ? -1 : part.rank + step};
  }
  return true;
}

Gas::Gas(const Part& of, const clover::Deck& deck, int with_threads)
    : part(of), threads(with_threads), nx(of.cells[0]), ny(of.cells[1]) {
  for (Array* array : {&density0, &density1, &energy0, &energy1, &pressure, &viscosity, &soundspeed, &volume})
    array->make(nx, ny, 0, 0);
  for (Array* array : {&velocity0[0], &velocity0[1], &velocity1[0], &velocity1[1], &volume_before, &volume_after,
                       &energy_flux, &node_flux, &node_mass_after, &node_mass_before, &momentum_flux})
    array->make(nx, ny, 1, 1);
  for (auto* both : {&area, &volume_flux, &mass_flux}) {
    (*both)[0].make(nx, ny, 1, 0);
    (*both)[1].make(nx, ny, 0, 1);
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double width = deck.width(static_cast<unsigned>(axis));
    for (std::int64_t i = -kHalo; i <= part.cells[axis] + kHalo; ++i)
      vertex[axis].push_back(deck.low[axis] + width * static_cast<double>(part.first[axis] + i));
    vertex_width[axis].assign(vertex[axis].size(), width);
    cell_width[axis].assign(vertex[axis].size(), width);
  }
}

void initialise(Gas& gas, const clover::Deck& deck) {
  fill(gas.volume, gas, 1 * deck.width(0) * deck.width(1));
  fill(gas.area[0], gas, deck.width(1));
  fill(gas.area[1], gas, deck.width(0));
  for (std::int64_t y = 0; y <= gas.ny; ++y)
    for (std::int64_t x = 0; x <= gas.nx; ++x)
      for (const State& state : deck.states) {
        const bool first = &state == deck.states.data();
        if (x < gas.nx && y < gas.ny && (first || has(state, gas, x, y)))
          gas.density0.row(y)[x] = state.density, gas.energy0.row(y)[x] = state.energy;
        for (std::size_t axis = 0; axis < 2; ++axis)
          if (first || touches(state, gas, x, y)) gas.velocity0[axis].row(y)[x] = state.velocity[axis];
      }
  equation_of_state(gas, gas.density0, gas.energy0);
  update(gas,
         {{&gas.density0},
          {&gas.energy0},
          {&gas.pressure},
          {&gas.velocity0[0], Halo::Kind::node, 0},
          {&gas.velocity0[1], Halo::Kind::node, 1}},
         2);
}

}  // namespace perdure::plain
