#pragma once
// The plain way to have what a store holds: read() of its files, one after the other.
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace perdure::elastic_bench {

struct PlainRead {
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// All files below `directory`, in calls of 4 MiB, into memory that is as long as all of them and was touched before.
base::Result<PlainRead> read_plainly(const std::string& directory);

/// What this process had of files and pipes by read() and its like since it began.
std::uint64_t bytes_read_so_far();

}  // namespace perdure::elastic_bench
