// A library that a program loads while it runs: memory of its own, of each thread's own, and what it does when it is
// loaded.
#include <cstdint>

namespace {
thread_local std::uint64_t of_thread = 11;
std::uint64_t of_all = 0;
__attribute__((constructor)) void loaded() { of_all = 1; }
}  // namespace

extern "C" __attribute__((visibility("default"))) std::uint64_t part_step(std::uint64_t by) {
  of_thread += by;
  of_all = of_all * 31 + of_thread;
  return of_all;
}
