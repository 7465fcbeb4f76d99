// What the second listing of README.md leaves to the reader. Run on two ranks.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {
[[maybe_unused]] std::size_t count = 1000;
template <class... T>
void initialise(T&&...) {}
template <class... T>
void compute(T&&...) {}
}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // THE PAGE'S LINES
  MPI_Finalize();
  return 0;
}
