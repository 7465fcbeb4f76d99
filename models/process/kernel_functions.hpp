#pragma once
// Redirects calls from an old vdso to the current one. The kernel puts the vdso's code into every process. Its
// functions read clocks without a system call, from pages that belong to that code and kernel. A program keeps their
// addresses, so after a change of the kernel the old code must jump to the new one. Pure.
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

/// Lists the functions of a vdso in memory, by name. `code` may come from anybody. PERDURE_CORRUPT: it is no vdso.
base::Result<std::vector<KernelFunction>> kernel_functions(base::ConstByteSpan code);

/// Returns the functions of `old` that `here` lacks, by name.
std::vector<std::string> lacking_functions(const std::vector<KernelFunction>& old,
                                           const std::vector<KernelFunction>& here);

/// Returns the code `old` in which each function jumps to the same function of `here`, which lies at `address`. Names
/// and unwind information stay. PERDURE_UNSUPPORTED: `here` lacks a function, or two are too close for the jump.
base::Result<std::vector<std::byte>> lead_to(base::ConstByteSpan old, base::ConstByteSpan here, std::uint64_t address);

}  // namespace perdure::process
