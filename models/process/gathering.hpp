#pragma once
// Copies many parts of another process's memory with several threads.
#include <sys/types.h>

#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::process {

struct GatheredPart {
  std::uint64_t address = 0;  ///< in the other process
  std::uint64_t length = 0;
  std::byte* target = nullptr;
};

/// Returns the number of threads for copying: one per processor, up to a small limit.
unsigned copying_threads();
/// Returns how many chunks are copied at once. It is one more than threads, so that no processor waits for the oldest
/// chunk.
unsigned chunks_at_once();
/// Returns the parts that could not be read completely.
base::Result<std::vector<GatheredPart>> gather(pid_t process, const std::vector<GatheredPart>& parts, unsigned threads);

}  // namespace perdure::process
