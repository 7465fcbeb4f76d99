#include "process/kernel_state.hpp"

namespace perdure::process {

std::string ThreadState::wrong() const {
  constexpr std::uint32_t kSecureBits = 0xff, kMostUse = 1024, kSpeculationBits = 0x1f;
  if (secure_bits > kSecureBits) return "field 'secure_bits' has bits that are none";
  if (counter_access > 2) return "field 'counter_access' is none";
  if (io_priority < 0 || io_priority > 0xffff) return "field 'io_priority' is none";
  if (least_use > kMostUse || most_use > kMostUse) return "field 'most_use' is more than a processor";
  for (const std::uint32_t one : speculation)
    if (one > kSpeculationBits) return "field 'speculation' has bits that are none";
  return memory_failures <= 2 ? "" : "field 'memory_failures' is none";
}

std::string ProcessState::wrong() const {
  constexpr std::int32_t kMostScore = 1000;
  if ((membarriers & ~kMembarriers) != 0) return "field 'membarriers' has what is no registration";
  if (write_execute > 3) return "field 'write_execute' has bits that are none";
  if (huge_pages > 3) return "field 'huge_pages' has bits that are none";
  return oom_score >= -kMostScore && oom_score <= kMostScore ? "" : "field 'oom_score' is none";
}

}  // namespace perdure::process
