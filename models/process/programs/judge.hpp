#pragma once
// Programs that test themselves use these checks.
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

/// The first failure, as an exit status.
inline std::atomic<int> wrong{0};
inline void judge(bool good, int what) {
  int none = 0;
  if (!good) wrong.compare_exchange_strong(none, what);
}

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

inline void pause_ms(long ms) {
  timespec left{ms / 1000, ms % 1000 * 1'000'000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {  // wait: it is captured meanwhile
  }
}
