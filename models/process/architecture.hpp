#pragma once
// Numbers that are the architecture's own. Its registers and system calls: registers.hpp.
#include <cstdint>

namespace perdure::process {

/// Behind the last page that a process may have.
#if defined(__aarch64__)
inline constexpr std::uint64_t kAddressEnd = 0x1000000000000;  // 48 bits
#else
inline constexpr std::uint64_t kAddressEnd = 0x7ffffffff000;
#endif

}  // namespace perdure::process
