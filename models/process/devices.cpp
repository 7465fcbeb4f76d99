#include "process/devices.hpp"

#include <sys/sysmacros.h>

namespace perdure::process {

bool is_plain_device(std::uint64_t special_device) {
  const auto one = minor(special_device);
  if (major(special_device) == 5) return one == 0;
  return major(special_device) == 1 && (one == 3 || one == 5 || one == 7 || one == 8 || one == 9);
}

bool is_terminal(std::uint64_t special_device) {
  const auto kind = major(special_device);
  const bool pseudo = kind >= 136 && kind <= 143, console = kind == 5 && minor(special_device) == 1;
  return pseudo || console || kind == 4;
}

}  // namespace perdure::process
