#include "cli/doctor_process.hpp"

#include <cstring>

namespace perdure::cli {
namespace {

using inspect::Check;
using inspect::Verdict;
using process::Facility;

struct FacilityText {
  Facility facility;
  const char* name;
  const char* purpose;
  Verdict without;     ///< the verdict if it is missing
  const char* remedy;  ///< the remedy then, or how Perdure does without
};

constexpr const char* kRestoring =
    "be root, or give the program the capability: setcap cap_checkpoint_restore+ep $(command -v perdure)";
constexpr std::array<FacilityText, process::kFacilities> kFacilityTexts = {{
    {Facility::trace_child, "ptrace", "holds a process while it is captured, and makes a new one at a resume",
     Verdict::problem,
     "a container or sandbox forbids it: start that with CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE)"},
    {Facility::trace_sibling, "ptrace of others", "captures programs that perdure did not start", Verdict::warning,
     "start programs by perdure launch, or have CAP_SYS_PTRACE, or set kernel.yama.ptrace_scope to 0"},
    {Facility::read_memory, "process_vm_readv", "copies the memory of a captured process", Verdict::problem,
     "a container or sandbox forbids it; the kernel needs CONFIG_CROSS_MEMORY_ATTACH"},
    {Facility::write_memory, "process_vm_writev", "fills the memory of a resumed process", Verdict::problem,
     "a container or sandbox forbids it; the kernel needs CONFIG_CROSS_MEMORY_ATTACH"},
    {Facility::rseq_configuration, "PTRACE_GET_RSEQ_CONFIGURATION",
     "finds where the C library has the kernel note processors", Verdict::problem,
     "the kernel needs to be 5.13 or later, with CONFIG_RSEQ"},
    {Facility::compare_files, "kcmp", "tells which descriptors mean the same open file", Verdict::problem,
     "the kernel needs CONFIG_KCMP; a container or sandbox may forbid it"},
    {Facility::duplicate_files, "pidfd_getfd", "reads what is in pipes and sockets of a captured process",
     Verdict::problem, "the kernel needs to be 5.6 or later; a container or sandbox may forbid it"},
    {Facility::choose_numbers, "clone3 with set_tid", "gives a resumed process and its threads the numbers they had",
     Verdict::problem, kRestoring},
    {Facility::set_program, "PR_SET_MM with a program",
     "has ps and /proc/PID/exe show the program of a resumed process", Verdict::warning, kRestoring},
    {Facility::page_scan, "PAGEMAP_SCAN", "finds the pages to be captured quickly", Verdict::warning,
     "without it all of pagemap is read, which takes longer; kernels from 6.7 on have it"},
    {Facility::mapped_files, "/proc/PID/map_files", "finds which pages of shared memory have content", Verdict::warning,
     "without it all of that memory is stored; be root, or have CAP_CHECKPOINT_RESTORE"},
    {Facility::user_faults, "userfaultfd", "could load pages of a resumed process when they are needed",
     Verdict::warning, "nothing that there is needs it yet; the kernel needs CONFIG_USERFAULTFD"},
    {Facility::user_faults_write, "userfaultfd, write-protection",
     "could copy pages before a process has to stand still", Verdict::warning,
     "nothing that there is needs it yet; kernels from 6.7 on have it"},
    {Facility::user_namespace, "user name spaces", "gives a resumed process its numbers where nobody may choose them",
     Verdict::warning, "see user.max_user_namespaces and kernel.unprivileged_userns_clone (sysctl)"},
}};

std::string finding_of(const FacilityText& text, int error, const std::string& trace_scope) {
  std::string finding =
      std::string(error == 0 ? "here" : "missing (" + std::string(std::strerror(error)) + ")") + "; " + text.purpose;
  if (text.facility == Facility::trace_sibling && !trace_scope.empty())
    finding += "; kernel.yama.ptrace_scope is " + trace_scope;
  return finding;
}

}  // namespace

std::vector<Check> judge_facilities(const process::FacilityErrors& errors, const std::string& trace_scope) {
  std::vector<Check> checks;
  for (const FacilityText& text : kFacilityTexts) {
    const int error = errors[static_cast<std::size_t>(text.facility)];
    checks.push_back({text.name, error == 0 ? Verdict::ok : text.without, finding_of(text, error, trace_scope),
                      error == 0 ? "" : text.remedy});
  }
  return checks;
}

}  // namespace perdure::cli
