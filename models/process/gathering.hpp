#pragma once
// Many parts of another process's memory, copied to as many places here by several threads.
#include <sys/types.h>

#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::process {

struct GatheredPart {
  std::uint64_t address = 0;  ///< there
  std::uint64_t length = 0;
  std::byte* target = nullptr;
};

/// How many threads copy best: as many as there are processors, but few.
unsigned copying_threads();
/// Of chunks that are copied side by side: one more, so that no processor waits until the oldest is done.
unsigned chunks_at_once();
/// Those that could not be read whole.
base::Result<std::vector<GatheredPart>> gather(pid_t process, const std::vector<GatheredPart>& parts, unsigned threads);

}  // namespace perdure::process
