#include "plan/selection.hpp"

namespace perdure::plan {

// The largest number has no successor; there the nonces decide.
std::uint64_t attempt_time(std::uint64_t clock_ns, std::uint64_t newest_known_ns) {
  return clock_ns > newest_known_ns ? clock_ns : newest_known_ns + (newest_known_ns + 1 == 0 ? 0 : 1);
}

}  // namespace perdure::plan
