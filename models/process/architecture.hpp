#pragma once
// These constants differ between architectures. Registers and system calls are in registers.hpp.
#include <cstdint>

namespace perdure::process {

/// The end of the address space of a process.
#if defined(__aarch64__)
inline constexpr std::uint64_t kAddressEnd = 0x1000000000000;  // 48 bits
#else
inline constexpr std::uint64_t kAddressEnd = 0x7ffffffff000;
#endif

}  // namespace perdure::process
