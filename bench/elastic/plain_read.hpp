#pragma once
// Reads the files of a store plainly, with read(), one after the other.
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace perdure::elastic_bench {

struct PlainRead {
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// Reads all files below `directory` in calls of 4 MiB, into memory that holds all of them and was touched before.
base::Result<PlainRead> read_plainly(const std::string& directory);

/// Returns how many bytes this process has read from files and pipes, by read() and similar calls, since it began.
std::uint64_t bytes_read_so_far();

}  // namespace perdure::elastic_bench
