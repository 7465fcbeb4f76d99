#include "sedov.hpp"

#include <cmath>

#include "gas_flow.hpp"

namespace kernels {
namespace {

constexpr double kRestEnergy = 1e-5;  // of gas at rest
constexpr double kBlastEnergy = 1;    // of the whole explosion
constexpr double kCourant = 0.3;      // at this value three sides of a cell cannot take more than it has

double away_from_middle(std::pair<double, double> place) { return std::hypot(place.first - 0.5, place.second - 0.5); }

}  // namespace

SedovBlast::SedovBlast(std::int64_t edge) : mesh_(edge), gas_(edge, 2 * edge), walls_(edge, 1) {
  explode();
  mass_ = sum_of([](const Gas& gas) { return gas.mass; });
  energy_ = sum_of([](const Gas& gas) { return gas.energy; });
}

template <class Term>
double SedovBlast::sum_of(const Term& term) const {
  return sum(mesh_.rows(), [&](std::int64_t row) {
    double all = 0;
    const auto [begin, end] = mesh_.cells_of(row);
    for (std::int64_t i = begin; i < end; ++i) all += mesh_.areas[i] * term(gas_[i]);
    return all;
  });
}

// The blast is in the cells that are nearest to the middle.
void SedovBlast::explode() {
  const double near = 1.5 / static_cast<double>(mesh_.rows());
  const double area = sum(mesh_.rows(), [&](std::int64_t row) {
    double all = 0;
    const auto [begin, end] = mesh_.cells_of(row);
    for (std::int64_t i = begin; i < end; ++i) all += away_from_middle(mesh_.middle(i)) < near ? mesh_.areas[i] : 0;
    return all;
  });
  each(mesh_.rows(), [&](std::int64_t row) {
    const auto [begin, end] = mesh_.cells_of(row);
    for (std::int64_t i = begin; i < end; ++i)
      gas_[i] = {1, 0, 0, kRestEnergy + (away_from_middle(mesh_.middle(i)) < near ? kBlastEnergy / area : 0)};
  });
}

void SedovBlast::step() {
  Array<Gas> flows(mesh_.rows() + 1, mesh_.sides.size() / (mesh_.rows() + 1));
  const double time_step = least(mesh_.rows(), [&](std::int64_t row) { return find_flows(row, flows); });
  each(mesh_.rows(), [&](std::int64_t row) { let_flow(row, time_step, flows); });
  for (std::int64_t row = 0; row < mesh_.rows(); ++row) {
    impulse_.x += time_step * walls_[row].x;
    impulse_.y += time_step * walls_[row].y;
  }
  time_ += time_step;
}

/// Computes the flows through the sides of a row; returns how long they may last.
double SedovBlast::find_flows(std::int64_t row, Array<Gas>& flows) {
  double rate = 0;
  walls_[row] = {0, 0};
  const auto [begin, end] = mesh_.sides_of(row);
  for (std::int64_t i = begin; i < end; ++i) {
    const TriangleMesh::Side& side = mesh_.sides[i];
    const double length = std::hypot(side.x, side.y);
    const Direction2 normal{side.x / length, side.y / length};
    const bool wall = side.right == TriangleMesh::kWall;
    const auto [flow, fastest] =
        wall ? flow_into_wall(gas_[side.left], normal) : flow_between(gas_[side.left], gas_[side.right], normal);
    flows[i] = {length * flow.mass, length * flow.momentum_x, length * flow.momentum_y, length * flow.energy};
    if (wall) walls_[row] = {walls_[row].x + flows[i].momentum_x, walls_[row].y + flows[i].momentum_y};
    const double area = wall ? mesh_.areas[side.left] : std::min(mesh_.areas[side.left], mesh_.areas[side.right]);
    rate = std::max(rate, fastest * length / area);
  }
  return kCourant / rate;
}

void SedovBlast::let_flow(std::int64_t row, double time_step, const Array<Gas>& flows) {
  const auto [begin, end] = mesh_.cells_of(row);
  for (std::int64_t i = begin; i < end; ++i)
    for (const std::uint32_t side : mesh_.cells[i].sides) {
      const double share = (mesh_.sides[side].left == i ? -time_step : time_step) / mesh_.areas[i];
      const Gas& flow = flows[side];
      gas_[i].mass += share * flow.mass;
      gas_[i].momentum_x += share * flow.momentum_x;
      gas_[i].momentum_y += share * flow.momentum_y;
      gas_[i].energy += share * flow.energy;
    }
}

double SedovBlast::norm() const {
  return sum_of([](const Gas& gas) { return std::hypot(gas.momentum_x, gas.momentum_y); });
}

double SedovBlast::radius() const {
  return -least(mesh_.rows(), [&](std::int64_t row) {
    double farthest = 0;
    const auto [begin, end] = mesh_.cells_of(row);
    for (std::int64_t i = begin; i < end; ++i)
      if (gas_[i].mass > 1.5) farthest = std::max(farthest, away_from_middle(mesh_.middle(i)));
    return -farthest;
  });
}

// 0.984: alpha of Sedov's solution with axial symmetry and gamma 1.4.
double SedovBlast::radius_of_theory() const { return std::pow(kBlastEnergy * time_ * time_ / 0.984, 0.25); }

std::string SedovBlast::verify() {
  const double mass = sum_of([](const Gas& gas) { return gas.mass; });
  if (!(std::abs(mass - mass_) <= 1e-12 * mass_)) return "mass is not conserved";
  const double energy = sum_of([](const Gas& gas) { return gas.energy; });
  if (!(std::abs(energy - energy_) <= 1e-12 * energy_)) return "energy is not conserved";
  const double x = sum_of([](const Gas& gas) { return gas.momentum_x; });
  const double y = sum_of([](const Gas& gas) { return gas.momentum_y; });
  if (!(std::hypot(x + impulse_.x, y + impulse_.y) <= 1e-12 * std::sqrt(mass_ * energy_)))
    return "the gas has not the momentum that the walls gave it";
  const double impossible = sum_of([](const Gas& gas) {
    const double moving = gas.momentum_x * gas.momentum_x + gas.momentum_y * gas.momentum_y;
    return gas.mass > 0 && 2 * gas.energy * gas.mass > moving ? 0.0 : 1.0;
  });
  if (impossible > 0) return "gas without mass or pressure";
  // First order spreads the shock over some cells. Later it meets the walls; earlier there are too few cells.
  const double theory = radius_of_theory(), spacing = 1 / static_cast<double>(mesh_.rows());
  if (theory > 10 * spacing && theory < 0.4 && !(std::abs(radius() - theory) <= 0.05 * theory + 3 * spacing))
    return "the shock is not where Sedov's solution has it";
  return "";
}

}  // namespace kernels
