#pragma once
// The code that the kernel puts into every process (vdso): its functions read clocks without a system call, out of
// pages that belong to that code and to that kernel only. A program keeps their addresses, so that under another kernel
// the old code has to lead to the new one. Pure.
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::process {

struct KernelFunction {
  std::string name;
  std::uint64_t offset = 0;  ///< of its first instruction
  friend bool operator==(const KernelFunction&, const KernelFunction&) = default;
};

/// Of the code as it is in memory, by name; `code` may come from anybody. PERDURE_CORRUPT: it is no code of a kernel.
base::Result<std::vector<KernelFunction>> kernel_functions(base::ConstByteSpan code);

/// What programs may call in `old`, and what `here` does not have, by name.
std::vector<std::string> lacking_functions(const std::vector<KernelFunction>& old,
                                           const std::vector<KernelFunction>& here);

/// The code `old`, but each function of it that `here` has, too, goes on there: in code that lies at `address`. What
/// others read of it (names, how to unwind a stack) stays. PERDURE_UNSUPPORTED: `here` lacks a function, or two lie so
/// close that there is no room.
base::Result<std::vector<std::byte>> lead_to(base::ConstByteSpan old, base::ConstByteSpan here, std::uint64_t address);

}  // namespace perdure::process
