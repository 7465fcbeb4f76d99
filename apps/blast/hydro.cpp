#include "hydro.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace blast {
namespace {

constexpr double kGamma = 1.4, kSize = 1.0 / 16, kLinear = 0.25, kQuadratic = 1.5, kDamping = 0.02;

// Computes the area from the corners' coordinates: half the cross product of the diagonals.
double area(const Field& x, const Field& y, const std::array<std::size_t, 4>& at) {
  return 0.5 * ((x[at[2]] - x[at[0]]) * (y[at[3]] - y[at[1]]) - (x[at[3]] - x[at[1]]) * (y[at[2]] - y[at[0]]));
}

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 33U) * 0xff51afd7ed558ccdULL;
  value = (value ^ value >> 33U) * 0xc4ceb9fe1a85ec53ULL;
  return value ^ value >> 33U;
}

}  // namespace

State::State(const Grid& grid) {
  const auto nodes = static_cast<std::size_t>(grid.nodes().in_memory());
  const auto elements = static_cast<std::size_t>(grid.elements().in_memory());
  for (Field* field : {&x, &y, &x_next, &y_next, &u, &v, &force_x, &force_y, &node_mass}) field->assign(nodes, 0);
  for (Field* field : {&energy, &energy_next, &volume, &volume_next, &pressure, &viscosity, &mass})
    field->assign(elements, 0);
}

void Hydro::initialise(State& s) const {
  const Rows &nodes = grid_.nodes(), &elements = grid_.elements();
  for (std::int64_t row = nodes.first - 1; row <= nodes.end; ++row)
    for (std::int64_t column = 0; column < nodes.columns; ++column) {
      s.x[nodes.local(row, column)] = kSize * static_cast<double>(column);
      s.y[nodes.local(row, column)] = kSize * static_cast<double>(row);
    }
  for (std::int64_t row = elements.first - 1; row < elements.end; ++row)
    for (std::int64_t column = 0; column < elements.columns; ++column) {
      const std::size_t element = elements.local(row, column);
      s.volume[element] = s.volume_next[element] = s.mass[element] = kSize * kSize;
      s.energy[element] = row == 0 && column == 0 ? 40 : 0.01;
      s.pressure[element] = (kGamma - 1) * s.energy[element];
    }
  for (const std::size_t node : grid_.own_nodes())
    for (const Corner& corner : grid_.corners_of()[node]) s.node_mass[node] += 0.25 * s.mass[corner.element];
}

// Fetches a whole row as it lies in the neighbour's memory: the order within a row is the same on all ranks.
void Hydro::fetch(Field& field, const Rows& rows, From from) const {
  int rank = 0, size = 1;
  MPI_Comm_rank(ranks_, &rank);
  MPI_Comm_size(ranks_, &size);
  const int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const auto count = static_cast<int>(rows.columns);
  const auto row = [&](std::int64_t number) { return field.data() + number * rows.columns; };
  const std::int64_t own = rows.end - rows.first;
  if (from == From::below)
    MPI_Sendrecv(row(own), count, MPI_DOUBLE, up, 1, row(0), count, MPI_DOUBLE, down, 1, ranks_, MPI_STATUS_IGNORE);
  else
    MPI_Sendrecv(row(1), count, MPI_DOUBLE, down, 2, row(own + 1), count, MPI_DOUBLE, up, 2, ranks_, MPI_STATUS_IGNORE);
}

void Hydro::forces(State& s) const {
  for (Field* field : {&s.x, &s.y}) {
    fetch(*field, grid_.nodes(), From::below);
    fetch(*field, grid_.nodes(), From::above);
  }
  for (Field* field : {&s.pressure, &s.viscosity}) fetch(*field, grid_.elements(), From::below);
  for (const std::size_t node : grid_.own_nodes()) {
    double fx = 0, fy = 0;
    for (const Corner& corner : grid_.corners_of()[node]) {
      const auto& at = grid_.nodes_of()[corner.element];
      const std::size_t next = at[static_cast<std::size_t>((corner.number + 1) % 4)];
      const std::size_t before = at[static_cast<std::size_t>((corner.number + 3) % 4)];
      const double pushes = 0.5 * (s.pressure[corner.element] + s.viscosity[corner.element]);
      fx += pushes * (s.y[next] - s.y[before]);
      fy += pushes * (s.x[before] - s.x[next]);
    }
    s.force_x[node] = fx;
    s.force_y[node] = fy;
  }
}

void Hydro::move(State& s, double dt) const {
  for (const std::size_t node : grid_.own_nodes()) {
    s.u[node] = (1 - kDamping) * s.u[node] + dt * s.force_x[node] / s.node_mass[node];
    s.v[node] = (1 - kDamping) * s.v[node] + dt * s.force_y[node] / s.node_mass[node];
  }
  for (const std::size_t node : grid_.walls_x()) s.u[node] = 0;
  for (const std::size_t node : grid_.walls_y()) s.v[node] = 0;
  for (const std::size_t node : grid_.own_nodes()) {
    s.x_next[node] = s.x[node] + dt * s.u[node];
    s.y_next[node] = s.y[node] + dt * s.v[node];
  }
}

void Hydro::volumes(State& s) const {
  for (Field* field : {&s.x, &s.y}) fetch(*field, grid_.nodes(), From::above);
  for (const std::size_t element : grid_.own_elements())
    s.volume_next[element] = area(s.x, s.y, grid_.nodes_of()[element]);
}

void Hydro::work(State& s) const {
  for (const std::size_t element : grid_.own_elements()) {
    const double grows = s.volume_next[element] - s.volume[element];
    const double left = s.energy[element] - (s.pressure[element] + s.viscosity[element]) * grows / s.mass[element];
    s.energy_next[element] = std::max(left, 1e-6);
  }
}

void Hydro::pressures(State& s, double dt) const {
  for (const std::size_t element : grid_.own_elements()) {
    const double density = s.mass[element] / s.volume[element];
    s.pressure[element] = (kGamma - 1) * density * s.energy[element];
    const double rate = (s.volume[element] - s.volume_next[element]) / (s.volume[element] * dt);
    const double speed = std::sqrt(s.volume[element]) * rate;
    const double sound = std::sqrt(kGamma * s.pressure[element] / density);
    s.viscosity[element] = rate < 0 ? density * (kQuadratic * speed * speed - kLinear * speed * sound) : 0;
  }
}

double Hydro::time_step(const State& s) const {
  double least = 1;
  for (const std::size_t element : grid_.own_elements()) {
    const double density = s.mass[element] / s.volume[element];
    const double fast = std::sqrt((kGamma * s.pressure[element] + 4 * s.viscosity[element]) / density);
    least = std::min(least, 0.2 * std::sqrt(s.volume[element]) / (fast + 1e-9));
  }
  return on_all(least, MPI_MIN);
}

double Hydro::greatest_pressure(const State& s) const {
  double greatest = 0;
  for (const std::size_t element : grid_.own_elements()) greatest = std::max(greatest, s.pressure[element]);
  return on_all(greatest, MPI_MAX);
}

double Hydro::on_all(double mine, MPI_Op operation) const {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, operation, ranks_);
  return mine;
}

std::uint64_t Hydro::hash_of(const Field& field, const Rows& rows, std::uint64_t number) const {
  std::uint64_t sum = 0;
  for (std::int64_t row = rows.first; row < rows.end; ++row)
    for (std::int64_t column = 0; column < rows.columns; ++column)
      sum += mixed(mixed(number * 1000003 + static_cast<std::uint64_t>(row * rows.columns + column)) ^
                   std::bit_cast<std::uint64_t>(field[rows.local(row, column)]));
  return sum;
}

std::uint64_t Hydro::hash(const State& s) const {
  std::uint64_t sum = 0, number = 0;
  for (const Field* field : {&s.x, &s.y, &s.u, &s.v}) sum += hash_of(*field, grid_.nodes(), ++number);
  for (const Field* field : {&s.energy, &s.volume, &s.pressure, &s.viscosity})
    sum += hash_of(*field, grid_.elements(), ++number);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, ranks_);
  return sum;
}

}  // namespace blast
