#pragma once
// Runs a stencil that computes the same number of steps after each checkpoint, beside its flush and without one.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lattice.hpp"
#include "perdure/perdure_mpi.h"

namespace perdure::bench {

struct Interference {
  std::size_t bytes = 256U << 20;                               ///< of a checkpoint, over all ranks
  std::size_t memory_grid = 128U << 20, cache_grid = 8U << 20;  ///< size of both arrays of a grid
  int turns = 5;                                                ///< counted checkpoints
  int before = 1;                                               ///< earlier checkpoints, from which the engine learns
  double seconds = 1, batch_s = 0.01;
  double longest_s = 4;  ///< computes this long beside a flush, then waits for it, outside of the figures
  bool direct = true;
  double max_slowdown = 0;  ///< 0: no limit
  std::string store, more;
};

/// Alternates a large checkpoint, whose flush disturbs the steps, with one of a page, after which they are undisturbed.
/// The engine's estimate of a flush's cost (flush.max_slowdown) uses such differences. A long flush continues beside
/// the next steps, which count with it. Disturbed steps are compared with the steps before and after them, because
/// machines are shared.
class Disturbed {
 public:
  /// On any error, here and below, ends the job with a message.
  Disturbed(const Interference& settings, const std::string& grid, std::size_t grid_bytes, const micro::World& world);
  ~Disturbed();
  Disturbed(const Disturbed&) = delete;
  Disturbed& operator=(const Disturbed&) = delete;
  /// Returns seconds of a step, undisturbed and beside each flush. [collective]
  nlohmann::json run();

 private:
  /// The current or last flush of a large checkpoint.
  struct Flush {
    std::int64_t version = -1;
    double begin = 0, seconds = 0;
    double disturbed_s = 0;  ///< total time of batches that ran entirely beside it
    int batches = 0;
    bool runs = false;
  };
  void open();
  void check(perdure_status status, const char* call) const;
  void checkpoint(bool large);
  void turn(bool large);
  void look_at_flush(double seconds);
  void end_long_flush();
  double batch();
  double alone();
  bool stored(const char* name, std::int64_t version) const;
  void calibrate();

  const Interference& settings_;
  const std::string grid_;
  const micro::World& world_;
  elastic_bench::Lattice lattice_;
  std::vector<char> memory_;
  perdure_t* handle_ = nullptr;
  std::int64_t small_ = -1;
  int steps_ = 1, batches_ = 1;  ///< per batch; per turn
  Flush flush_;
  std::vector<double> undisturbed_;  ///< seconds of batches since the last flush
};

/// Measures both grids. [collective]
nlohmann::json disturbed(const Interference& settings, const micro::World& world);

}  // namespace perdure::bench
