#pragma once
// MPI from its beginning to its end, and what ranks tell each other.
#include <mpi.h>

#include <vector>

#include "base/result.hpp"

namespace perdure::micro {

/// MPI_COMM_WORLD; MPI is called by one thread of each process only (MPI_THREAD_FUNNELED).
class World {
 public:
  World(int& argc, char**& argv);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Others than the thread that calls MPI may exist.
  bool other_threads() const { return other_threads_; }

 private:
  int rank_ = 0, size_ = 1;
  bool other_threads_ = false;
};

/// A communicator of its own, freed at the end; none where `color` is negative.
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

/// The error of the lowest rank that has one, on all ranks. [collective]
base::Status agree(const base::Status& mine, MPI_Comm among = MPI_COMM_WORLD);
/// A barrier for those who have long to wait: they sleep instead of taking the processor from those who work.
void wait_quietly(MPI_Comm among = MPI_COMM_WORLD);
/// The value of every rank, at rank 0. [collective]
std::vector<double> gather(double value, MPI_Comm among = MPI_COMM_WORLD);

}  // namespace perdure::micro
