// A program loads this library while it runs. It has memory of its own, thread-local memory, and a constructor.
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
