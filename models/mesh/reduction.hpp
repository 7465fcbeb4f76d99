#pragma once
// Defines reductions over all points of loops: a sum, the least or the greatest value.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "mesh/exact_sum.hpp"

namespace perdure::mesh {

/// Made by Mesh::sum(), least() and most(). Loops add to it; Mesh::collect() makes its value the same on all ranks.
class Reduction {
 public:
  enum class Kind { sum, least, most };
  /// `open` counts the mesh's reductions with additions that were not collected yet.
  Reduction(Kind kind, int threads, bool exact, int& open);
  ~Reduction() { close(); }
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;
  Kind kind() const { return kind_; }
  bool exact() const { return exact_; }    ///< the bits do not depend on ranks and threads
  double value() const { return value_; }  ///< the result of the last Mesh::collect()

  /// The accumulator of one thread, in cache lines of its own.
  struct alignas(64) Slot {
    double value = 0;
    ExactSum sum;
  };
  Slot& slot(int thread) { return slots_[static_cast<std::size_t>(thread)]; }
  static double start(Kind kind);

  /// Gathers the slots of all threads. Exact sums are gathered in slot 0, whose digits are then added to those of other
  /// ranks.
  double gathered();
  std::span<std::int64_t> digits() { return slots_[0].sum.digits(); }
  double exact_value() const { return slots_[0].sum.value(); }
  /// Marks that a loop adds to it, or would add if it were not skipped.
  void open();
  /// Sets the result. Loops start from an empty accumulator again.
  void set(double value);

 private:
  void close();
  int* all_open_;
  bool is_open_ = false;
  Kind kind_;
  bool exact_;
  double value_;
  std::vector<Slot> slots_;
};

}  // namespace perdure::mesh
