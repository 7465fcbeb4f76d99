#include "together.hpp"

#include <unistd.h>

#include <cstdio>

namespace perdure::bench {

double slowest(double seconds, MPI_Comm among) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, among);
  return seconds;
}

std::string broadcast(std::string text, int root, MPI_Comm among) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, root, among);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, root, among);
  return text;
}

void show_progress(int done, int all) {
  constexpr int kWidth = 40;
  if (::isatty(2) == 0) return;
  std::fprintf(stderr, "\r[%-*.*s] %d of %d%s", kWidth, kWidth * done / all, "########################################",
               done, all, done == all ? "\n" : "");
}

}  // namespace perdure::bench
