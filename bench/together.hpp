#pragma once
// Provides collective helpers for benchmarks over MPI. Everything but show_progress is collective.
#include <mpi.h>

#include <string>

#include "references.hpp"

namespace perdure::bench {

double slowest(double seconds, MPI_Comm among = MPI_COMM_WORLD);

/// Returns the text of rank `root`, of any length.
std::string broadcast(std::string text, int root = 0, MPI_Comm among = MPI_COMM_WORLD);

/// Measures from the moment when the first rank may begin to the end of the last rank. With more ranks than cores,
/// ranks take turns, and a rank's own clock would not see the turns of the others.
template <class Work>
double timed_together(Work work, MPI_Comm among = MPI_COMM_WORLD) {
  MPI_Barrier(among);
  const double begin = now_s();
  work();
  MPI_Barrier(among);
  return slowest(now_s() - begin, among);
}

/// Shows a progress bar on stderr, if that is a terminal.
void show_progress(int done, int all);

}  // namespace perdure::bench
