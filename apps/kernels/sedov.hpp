#pragma once
#include "array.hpp"
#include "kernel.hpp"
#include "triangle_mesh.hpp"

namespace kernels {

/// Mass, momentum and energy of gas per unit of area; or their flow through a side.
struct Gas {
  double mass, momentum_x, momentum_y, energy;
};

/// Computes Sedov's explosion in the middle of a closed square: energy in one place drives a shock into resting gas. It
/// uses finite volumes of first order on triangles. Like LULESH it allocates memory in each step, and frees it.
class SedovBlast final : public Kernel {
 public:
  static double bytes(double edge) {
    return edge * edge * (TriangleMesh::kSquareBytes + 2 * sizeof(Gas) + 3 * sizeof(Gas));
  }
  explicit SedovBlast(std::int64_t edge);
  void step() override;
  /// The sum over the lengths of all cells' momenta; it grows while energy becomes motion.
  double norm() const override;
  std::string verify() override;
  void spoil() override { gas_[gas_.size() / 2].mass *= 1.001; }

 private:
  struct Force {
    double x, y;
  };
  double find_flows(std::int64_t row, Array<Gas>& flows);
  void let_flow(std::int64_t row, double time_step, const Array<Gas>& flows);
  void explode();
  /// Returns the distance from the middle of the farthest compressed gas.
  double radius() const;
  /// Returns that distance in Sedov's solution, before the shock meets a wall.
  double radius_of_theory() const;
  template <class Term>
  double sum_of(const Term& term) const;

  TriangleMesh mesh_;
  Array<Gas> gas_;
  Array<Force> walls_;  // on the walls, for each row
  Force impulse_{0, 0};
  double time_ = 0, mass_ = 0, energy_ = 0;
};

}  // namespace kernels
