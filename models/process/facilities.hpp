#pragma once
// Tests the kernel facilities that a capture and a resume need, on our own children.
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

/// For each facility: 0 if the kernel has it, else the error number of the test.
using FacilityErrors = std::array<int, kFacilities>;

/// The calling process must have one thread. All children end before the call returns.
FacilityErrors try_facilities();

/// Returns kernel.yama.ptrace_scope, which limits tracing. Empty: there is no such limit, and a user may trace their
/// own processes.
std::string trace_scope();
/// Returns whether we may trace the children of a program that we start. PR_SET_PTRACER is not inherited, and our
/// tracing children are not their ancestors. `capabilities`: the effective ones of this process. Pure.
bool may_trace_descendants(const std::string& scope, std::uint64_t capabilities);
std::uint64_t own_capabilities();

}  // namespace perdure::process
