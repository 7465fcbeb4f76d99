#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

#include "kernel.hpp"

namespace kernels {

/// How a kernel is run, and where its output goes.
struct Run {
  std::int64_t iterations = 1;
  bool quiet = false;  ///< `out` only gets the outcome
  bool times = false;  ///< each line gives the time of its iteration
  std::FILE* out = nullptr;
  std::FILE* file = nullptr;  ///< gets all output; may be null
};

/// Runs all steps, writes a line after each and the result of verify() at the end. Returns whether verify() found no
/// error.
bool run_kernel(Kernel& kernel, const Run& run);

/// Writes and flushes, so that users see each line at once. Does nothing if `to` is null.
void tell(std::FILE* to, const std::string& line);

/// Formats like printf, at most 200 characters.
std::string text(const char* format, auto... values) {
  char line[200];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

}  // namespace kernels
