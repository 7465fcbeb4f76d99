#pragma once
// Computes the flow of a viscous gas in a periodic cube of edge 2 pi, by central differences of fourth order. The time
// scheme is a Runge-Kutta method of third order. Units are those of the vortex: its size, velocity and density are 1.
#include <array>
#include <cstdint>
#include <span>

#include "differences.hpp"
#include "mesh/mesh.hpp"

namespace taylor_green {

namespace mesh = perdure::mesh;
using Field = mesh::Data<double>;

struct Gas {
  double reynolds = 1600, mach = 0.1, gamma = 1.4, prandtl = 0.71;
  double viscosity() const { return 1 / reynolds; }
  /// Returns the conductivity of energy, for the gradient of a temperature that is 1 at the beginning.
  double conductivity() const { return viscosity() / ((gamma - 1) * mach * mach * prandtl); }
  double pressure() const { return 1 / (gamma * mach * mach); }  ///< of gas at rest
};

/// Means over the cube.
struct Means {
  double kinetic_energy;
  double enstrophy;  ///< half the square of vorticity; friction dissipates twice the viscosity times that
};

class Flow {
 public:
  Flow(mesh::Mesh& mesh, std::int64_t cells, const Gas& gas);
  void initialise();
  void advance(double time_step);
  Means means();
  /// Returns the state that a step needs from those before: density, momentum, total energy.
  std::span<Field* const> state() const { return conserved_; }
  double spacing() const { return difference_.spacing; }

 private:
  static constexpr std::size_t kConserved = 5;
  Field& field(const char* name, std::int64_t halo);
  void wrap(mesh::LoopName name, unsigned dimension);
  void complete();
  void convect();
  void diffuse();
  void go_on(std::size_t stage, double time_step);

  mesh::Mesh& run_;
  const Gas gas_;
  const std::int64_t n_;
  const mesh::Block& block_;
  const mesh::Box cells_, haloed_;
  const Differences difference_;
  Field &rho_, &mx_, &my_, &mz_, &e_;  // conserved
  Field &u_, &v_, &w_, &p_, &t_, &h_;  // derived: velocity, pressure, temperature, enthalpy
  const std::array<Field*, kConserved> conserved_, rates_, changes_;
};

}  // namespace taylor_green
