// Does the same as one.c with the C++ veneer, and errors as exceptions. The argument is the directory of the store.
#include <cstdio>
#include <numeric>
#include <perdure/perdure.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  std::vector<double> state(1000);
  std::iota(state.begin(), state.end(), 0.0);
  const std::vector<double> expected = state;
  auto handle = perdure::open("store.path=" + std::string(argv[1]) + "/store-cpp").value();
  handle.protect(0, state).value();
  handle.checkpoint("outside", 1).value();
  state.assign(10, 0.0);
  handle.protect(0, state).value();
  handle.restore_resizing("outside").value();
  handle.close().value();
  return state == expected ? 0 : 1;
} catch (const perdure::Failure& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
