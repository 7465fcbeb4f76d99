#pragma once
// What benchmarks over MPI do together. Everything but show_progress is collective.
#include <mpi.h>

#include <string>

#include "references.hpp"

namespace perdure::bench {

double slowest(double seconds, MPI_Comm among = MPI_COMM_WORLD);

/// The text of rank `root`, of any length.
std::string broadcast(std::string text, int root = 0, MPI_Comm among = MPI_COMM_WORLD);

/// From the moment the first rank may begin to the moment the last one is done: with more ranks than cores, ranks take
/// turns, and a rank's own clock would not see the turns of the others.
template <class Work>
double timed_together(Work work, MPI_Comm among = MPI_COMM_WORLD) {
  MPI_Barrier(among);
  const double begin = now_s();
  work();
  MPI_Barrier(among);
  return slowest(now_s() - begin, among);
}

/// A bar on stderr, where that is a terminal.
void show_progress(int done, int all);

}  // namespace perdure::bench
