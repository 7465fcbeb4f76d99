#pragma once
// Initialises and finalises MPI, and provides exchanges between ranks.
#include <mpi.h>

#include <vector>

#include "base/result.hpp"

namespace perdure::micro {

/// Represents MPI_COMM_WORLD. Only one thread of each process calls MPI (MPI_THREAD_FUNNELED).
class World {
 public:
  World(int& argc, char**& argv);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Whether threads besides the one that calls MPI may exist.
  bool other_threads() const { return other_threads_; }

 private:
  int rank_ = 0, size_ = 1;
  bool other_threads_ = false;
};

/// Owns a communicator; it has none if `color` is negative.
class Group {
 public:
  Group(MPI_Comm parent, int color, int key);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  MPI_Comm get() const { return comm_; }
  int rank() const;
  int size() const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Returns on all ranks the error of the lowest rank that has one. [collective]
base::Status agree(const base::Status& mine, MPI_Comm among = MPI_COMM_WORLD);
/// A barrier for long waits: waiting ranks sleep and leave the processor to working ones.
void wait_quietly(MPI_Comm among = MPI_COMM_WORLD);
/// Returns the values of all ranks on rank 0. [collective]
std::vector<double> gather(double value, MPI_Comm among = MPI_COMM_WORLD);

}  // namespace perdure::micro
