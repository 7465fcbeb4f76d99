#include "process/read_state.hpp"

#include <linux/ioprio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "process/architecture.hpp"
#include "process/fields_of_text.hpp"
#include "process/image.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"
#include "process/scheduling.hpp"

namespace perdure::process {
namespace {

constexpr std::uint64_t kGetWriteExecute = 66, kGetMemoryMerge = 68;  // PR_GET_MDWE, PR_GET_MEMORY_MERGE
constexpr std::uint64_t kGetRegisterParts = 0x1022;                   // ARCH_GET_XCOMP_PERM

/// Returns the call's result; 0 if the kernel lacks the feature.
base::Result<std::uint64_t> answer_to(const AskedThread& thread, const SystemCall& call) {
  PERDURE_TRY(const auto answer, thread.ask(call));
  return answer < 0 ? 0 : static_cast<std::uint64_t>(answer);
}

/// Returns the number that the call wrote to memory; 0 if the kernel lacks the feature.
base::Result<std::uint64_t> value_of_call(const AskedThread& thread, const SystemCall& call) {
  PERDURE_TRY(const auto answer, thread.ask(call));
  if (answer < 0) return std::uint64_t{0};
  return thread.value();
}

base::Status read_speculation(const AskedThread& thread, ThreadState& state) {
  const std::string status = proc_text("/proc/" + std::to_string(thread.thread) + "/status");
  constexpr std::uint32_t kOwnChoice = 1;  // PR_SPEC_PRCTL
  for (std::uint32_t kind = 0; kind < kSpeculations; ++kind) {
    if (!chooses_speculation(status, kind)) continue;
    PERDURE_TRY(const auto asked, answer_to(thread, {SYS_prctl, PR_GET_SPECULATION_CTRL, kind, 0, 0, 0}));
    if ((asked & kOwnChoice) != 0) state.speculation[kind] = static_cast<std::uint32_t>(asked);
  }
  return {};
}

}  // namespace

bool flushes_files(std::uint64_t flags) {
  constexpr std::uint64_t kFlushes = 0x80000 | 0x100000;  // PF_MEMALLOC_NOIO, PF_LOCAL_THROTTLE
  return (flags & kFlushes) == kFlushes;
}

bool chose_memory_failures(std::uint64_t flags) {
  constexpr std::uint64_t kChose = 0x80;  // PF_MCE_PROCESS
  return (flags & kChose) != 0;
}

bool chooses_speculation(std::string_view status, std::uint32_t kind) {
  if (kind == 0) return value_of(status, "Speculation_Store_Bypass").value_or("").starts_with("thread");
  if (kind == 1) return value_of(status, "SpeculationIndirectBranch").value_or("").starts_with("conditional");
  return true;  // status does not have this kind
}

base::Result<ThreadState> read_thread_state(const AskedThread& thread) {
  ThreadState state;
  const std::string of_thread = "/proc/" + std::to_string(thread.process) + "/task/" + std::to_string(thread.thread);
  const std::uint64_t flags = StatNumbers(proc_text(of_thread + "/stat")).value(9);
  state.flushes_files = flushes_files(flags);
  const long priority = ::syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, thread.thread);
  state.io_priority = static_cast<std::int32_t>(priority < 0 ? 0 : priority);
  const SchedulingAttributes scheduling = scheduling_of(thread.thread);
  state.least_use = scheduling.least_use;
  state.most_use = scheduling.most_use;
  PERDURE_TRY(const auto bits, answer_to(thread, {SYS_prctl, PR_GET_SECUREBITS}));
  state.secure_bits = static_cast<std::uint32_t>(bits);
  PERDURE_TRY(const auto counter, value_of_call(thread, {SYS_prctl, PR_GET_TSC, thread.address}));
  state.counter_access = static_cast<std::uint32_t>(counter);  // only 4 bytes of it
  if (chose_memory_failures(flags)) {
    PERDURE_TRY(const auto failures, answer_to(thread, {SYS_prctl, PR_MCE_KILL_GET, 0, 0, 0, 0}));
    state.memory_failures = static_cast<std::uint32_t>(failures) + 1;
  }
  PERDURE_CHECK(read_speculation(thread, state));
  return state;
}

base::Result<std::uint32_t> read_membarriers(const std::function<base::Result<std::int64_t>(const SystemCall&)>& ask) {
  constexpr std::uint64_t kListRegistrations = 1 << 9;
  PERDURE_TRY(const auto listed, ask({SYS_membarrier, kListRegistrations, 0, 0}));
  if (listed >= 0) return static_cast<std::uint32_t>(listed) & kMembarriers;
  // The command one bit below is the barrier itself; it fails with EPERM without registration. The kernel does not tell
  // who is registered for global barriers only. So a process with any registration counts as registered for those too.
  std::uint32_t registered = 0;
  for (const std::uint32_t one : {kMembarrierPrivate, kMembarrierCores, kMembarrierSequences}) {
    PERDURE_TRY(const auto done, ask({SYS_membarrier, one >> 1, 0, 0}));
    if (done >= 0) registered |= one | kMembarrierGlobal;
  }
  return registered;
}

// EINVAL: the key is not allocated. ENOMEM: it is, and there is no memory at that address.
base::Result<std::uint32_t> read_protection_keys(
    const std::function<base::Result<std::int64_t>(const SystemCall&)>& ask) {
  constexpr std::uint32_t kMostKeys = 16;
  std::uint32_t keys = 0;
  for (std::uint64_t key = 0; key < kMostKeys; ++key) {
    PERDURE_TRY(const auto answer, ask({SYS_pkey_mprotect, kAddressEnd, kPageBytes, PROT_READ, key}));
    if (answer == -ENOMEM) keys |= 1U << key;
    if (key == 0 && keys == 0) break;  // key 0 protects all memory, if there are keys
  }
  return keys & ~1U;
}

base::Result<ProcessState> read_process_state(const AskedThread& thread) {
  ProcessState state;
  PERDURE_TRY(state.membarriers, read_membarriers(thread.ask));
  const auto switched = [&](std::uint64_t what) { return answer_to(thread, {SYS_prctl, what, 0, 0, 0, 0}); };
  PERDURE_TRY(const auto write_execute, switched(kGetWriteExecute));
  state.write_execute = static_cast<std::uint32_t>(write_execute);
  PERDURE_TRY(const auto huge_pages, switched(PR_GET_THP_DISABLE));
  state.huge_pages = static_cast<std::uint32_t>(huge_pages);
  PERDURE_TRY(const auto merges, switched(kGetMemoryMerge));
  state.merges_memory = merges != 0;
#if defined(__x86_64__)
  PERDURE_TRY(state.register_parts, value_of_call(thread, {SYS_arch_prctl, kGetRegisterParts, thread.address}));
#endif
  const std::string directory = "/proc/" + std::to_string(thread.process);
  state.oom_score = std::atoi(proc_text(directory + "/oom_score_adj").c_str());
  state.dumped =
      static_cast<std::uint32_t>(std::strtoul(proc_text(directory + "/coredump_filter").c_str(), nullptr, 16));
  return state;
}

}  // namespace perdure::process
