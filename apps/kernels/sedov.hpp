#pragma once
#include "array.hpp"
#include "kernel.hpp"
#include "triangle_mesh.hpp"

namespace kernels {

/// Mass, momentum and energy of gas, for each unit of area; or what flows of them through a side.
struct Gas {
  double mass, momentum_x, momentum_y, energy;
};

/// Sedov's explosion in the middle of a closed square: energy in one place drives a shock into resting gas. Finite
/// volumes of first order on triangles. As LULESH does it takes memory in each step, and gives it back.
class SedovBlast final : public Kernel {
 public:
  static double bytes(double edge) {
    return edge * edge * (TriangleMesh::kSquareBytes + 2 * sizeof(Gas) + 3 * sizeof(Gas));
  }
  explicit SedovBlast(std::int64_t edge);
  void step() override;
  /// Of the momenta of all cells, as lengths: it grows while the energy becomes motion.
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
  /// How far from the middle the farthest gas is that was pressed together.
  double radius() const;
  /// What Sedov's solution says of it, before the shock meets a wall.
  double radius_of_theory() const;
  template <class Term>
  double sum_of(const Term& term) const;

  TriangleMesh mesh_;
  Array<Gas> gas_;
  Array<Force> walls_;  // on the walls, of each row
  Force impulse_{0, 0};
  double time_ = 0, mass_ = 0, energy_ = 0;
};

}  // namespace kernels
