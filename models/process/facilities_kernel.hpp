#pragma once
// Carries out tests of facilities.cpp that need kernel structures. Each returns 0 or an error number.
#include <sys/types.h>

#include <cstdint>

namespace perdure::process {

/// Tries PR_SET_MM_MAP with a program. The kernel never permits that to a process that still runs its own program, so
/// that error counts as 0.
int may_set_program();
/// Tries PAGEMAP_SCAN.
int may_scan_pages(pid_t process);
/// Opens a userfaultfd descriptor with these features.
int may_handle_faults(std::uint64_t features);
/// The asynchronous write protection of userfaultfd: the kernel lifts it itself, and notes the write (6.7 and later).
inline constexpr std::uint64_t kFaultsWriteAsync = 1 << 15;

}  // namespace perdure::process
