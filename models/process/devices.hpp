#pragma once
// Classifies character devices by their numbers. Pure.
#include <cstdint>

namespace perdure::process {

/// Returns whether it is /dev/null, zero, full, random, urandom or tty. They keep no state for a process.
bool is_plain_device(std::uint64_t special_device);
/// Returns whether it is a terminal with a name of its own: /dev/pts/N, /dev/ttyN, /dev/console or a serial one. The
/// controlling side of a pseudoterminal (/dev/ptmx) is none.
bool is_terminal(std::uint64_t special_device);

}  // namespace perdure::process
