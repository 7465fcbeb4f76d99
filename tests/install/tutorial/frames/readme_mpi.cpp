// The frame for the second listing of README.md. It runs on two ranks, and FRAME_ENDS_AT kills them at that step.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {
std::size_t count = 1000;
void initialise(std::vector<double>& field) { field.assign(field.size(), 0); }
void compute(std::vector<double>& field) {
  static int calls = 0;
  const char* last = std::getenv("FRAME_ENDS_AT");
  if (last != nullptr && ++calls == std::atoi(last)) std::raise(SIGKILL);
  for (double& one : field) one += 1;
}
}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // THE PAGE'S LINES
  MPI_Finalize();
  return field.front() == 1000 && field.back() == 1000 ? 0 : 1;  // a resumed run has lost no step, nor made one twice
}
