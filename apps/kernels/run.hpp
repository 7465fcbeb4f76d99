#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

#include "kernel.hpp"

namespace kernels {

/// How a kernel is run, and who is told.
struct Run {
  std::int64_t iterations = 1;
  bool quiet = false;  ///< `out` is told only how it ended
  bool times = false;  ///< each line says how long its iteration took
  std::FILE* out = nullptr;
  std::FILE* file = nullptr;  ///< is told everything; may be missing
};

/// Takes all steps, writes a line after each and what verify() says at the end. Whether it found nothing wrong.
bool run_kernel(Kernel& kernel, const Run& run);

/// Flushed: who looks on sees each line when it is there. Nobody is told where `to` is missing.
void tell(std::FILE* to, const std::string& line);

/// What printf would write, 200 characters at most.
std::string text(const char* format, auto... values) {
  char line[200];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

}  // namespace kernels
