#pragma once
// A stencil that computes the same number of steps after each checkpoint, beside its flush and without one.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lattice.hpp"
#include "perdure/perdure_mpi.h"

namespace perdure::bench {

struct Interference {
  std::size_t bytes = 256U << 20;                               ///< of a checkpoint, of all ranks together
  std::size_t memory_grid = 128U << 20, cache_grid = 8U << 20;  ///< both arrays of a grid
  int turns = 5;                                                ///< checkpoints that count
  int before = 1;                                               ///< and before them: what an engine learns from
  double seconds = 1, batch_s = 0.01;
  double longest_s = 4;  ///< that a flush is computed beside; then it is waited for, out of the figures
  bool direct = true;
  double max_slowdown = 0;  ///< 0: no limit
  std::string store, more;
};

/// By turns a large checkpoint, beside whose flush the steps are disturbed, and one of a page, after which they are
/// not: the engine's estimate of what a flush costs (flush.max_slowdown) goes by such differences. A flush that
/// takes longer goes on beside the next steps, which count with it. What is disturbed is compared with
/// the steps before and after it, because machines are shared.
class Disturbed {
 public:
  /// Ends the job with a message when anything fails, here and below.
  Disturbed(const Interference& settings, const std::string& grid, std::size_t grid_bytes, const micro::World& world);
  ~Disturbed();
  Disturbed(const Disturbed&) = delete;
  Disturbed& operator=(const Disturbed&) = delete;
  /// Seconds of a step, undisturbed and beside each flush. [collective]
  nlohmann::json run();

 private:
  /// Of the large checkpoint whose flush runs, or ran last.
  struct Flush {
    std::int64_t version = -1;
    double begin = 0, seconds = 0;
    double disturbed_s = 0;  ///< of the batches that ran wholly beside it
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
  int steps_ = 1, batches_ = 1;  ///< of a batch; of a turn
  Flush flush_;
  std::vector<double> undisturbed_;  ///< seconds of batches, since the last flush
};

/// Both grids. [collective]
nlohmann::json disturbed(const Interference& settings, const micro::World& world);

}  // namespace perdure::bench
