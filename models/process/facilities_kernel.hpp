#pragma once
// Tries of facilities.cpp that need structures of the kernel. 0, or an error number.
#include <sys/types.h>

#include <cstdint>

namespace perdure::process {

/// PR_SET_MM_MAP with a program, which a process that is still its own program never gets: that error is 0 here.
int may_set_program();
/// PAGEMAP_SCAN.
int may_scan_pages(pid_t process);
/// A descriptor of userfaultfd with these features.
int may_handle_faults(std::uint64_t features);
/// Write-protection that the kernel itself lifts, and notes (6.7 and later).
inline constexpr std::uint64_t kFaultsWriteAsync = 1 << 15;

}  // namespace perdure::process
