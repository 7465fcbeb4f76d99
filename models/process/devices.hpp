#pragma once
// Character devices by their numbers. Pure.
#include <cstdint>

namespace perdure::process {

/// /dev/null, zero, full, random, urandom, tty: they keep nothing for a process.
bool is_plain_device(std::uint64_t special_device);
/// A terminal that has a name of its own: /dev/pts/N, /dev/ttyN, /dev/console, serial ones. Not the side of a
/// terminal's maker (/dev/ptmx).
bool is_terminal(std::uint64_t special_device);

}  // namespace perdure::process
