#pragma once
// What of the kernel a capture and a resume need, found out by trying it on children of our own.
#include <array>
#include <cstddef>
#include <string>

namespace perdure::process {

enum class Facility {
  trace_child,
  trace_sibling,
  read_memory,
  write_memory,
  rseq_configuration,
  compare_files,
  duplicate_files,
  choose_numbers,
  set_program,
  page_scan,
  mapped_files,
  user_faults,
  user_faults_write,
  user_namespace,
  count
};
inline constexpr std::size_t kFacilities = static_cast<std::size_t>(Facility::count);

/// By facility: 0 when it is here, else the error number that trying it ended with.
using FacilityErrors = std::array<int, kFacilities>;

/// To be called while this process has one thread. Its children end before it returns.
FacilityErrors try_facilities();

/// kernel.yama.ptrace_scope: who may trace whom; empty: it is not there, and the same user may.
std::string trace_scope();
/// Whether it lets us trace what a program that we start makes itself: leave to trace a process (PR_SET_PTRACER) is not
/// inherited, and children of ours that trace are no ancestors of it. `capabilities`: effective ones of this process.
/// Pure.
bool may_trace_descendants(const std::string& scope, std::uint64_t capabilities);
std::uint64_t own_capabilities();

}  // namespace perdure::process
