#pragma once
// One number out of all points that loops run over: a sum, the least, the greatest.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "mesh/exact_sum.hpp"

namespace perdure::mesh {

/// Made by Mesh::sum(), least(), most(); loops add to it, and Mesh::collect() makes it the same on all ranks.
class Reduction {
 public:
  enum class Kind { sum, least, most };
  /// `open`: of all reductions of a mesh those that have something that was not collected yet.
  Reduction(Kind kind, int threads, bool exact, int& open);
  ~Reduction() { close(); }
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;
  Kind kind() const { return kind_; }
  bool exact() const { return exact_; }    ///< the bits do not depend on ranks and threads
  double value() const { return value_; }  ///< as of the last Mesh::collect()

  /// Of one thread. A slot has cache lines of its own.
  struct alignas(64) Slot {
    double value = 0;
    ExactSum sum;
  };
  Slot& slot(int thread) { return slots_[static_cast<std::size_t>(thread)]; }
  static double start(Kind kind);

  /// All threads' together; for exact sums in slot 0, whose digits are to be added to those of other ranks.
  double gathered();
  std::span<std::int64_t> digits() { return slots_[0].sum.digits(); }
  double exact_value() const { return slots_[0].sum.value(); }
  /// A loop adds to it, or would if it were not skipped.
  void open();
  /// The answer; what loops add from here on counts anew.
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
