#pragma once
// The kernel keeps these permissions and switches (prctl and the like) for a process and its threads. Memory, files,
// signals and timers are elsewhere. Data only. The census says how each of them is treated (census.hpp).
#include <array>
#include <cstdint>
#include <string>

#include "base/fields.hpp"

namespace perdure::process {

/// Kinds of PR_GET_SPECULATION_CTRL: store bypass, indirect branches, flush of the first-level data cache.
inline constexpr std::uint32_t kSpeculations = 3;

/// The state of a thread. Zero: the kernel has no such switch.
struct ThreadState {
  std::uint32_t secure_bits = 0;              ///< PR_GET_SECUREBITS, which includes PR_SET_KEEPCAPS
  std::uint32_t counter_access = 0;           ///< PR_GET_TSC: 1: it may read the counter; 2: it gets SIGSEGV
  std::int32_t io_priority = 0;               ///< ioprio_get
  std::uint32_t least_use = 0, most_use = 0;  ///< utilization clamps, in 1/1024 of a processor (uclamp)
  std::array<std::uint32_t, kSpeculations> speculation{};  ///< PR_GET_SPECULATION_CTRL; 0: the thread has no choice
  bool flushes_files = false;                              ///< PR_SET_IO_FLUSHER
  std::uint32_t memory_failures = 0;                       ///< PR_MCE_KILL_GET; 0: it uses the default
  friend bool operator==(const ThreadState&, const ThreadState&) = default;
  PERDURE_FIELDS(secure_bits, counter_access, io_priority, least_use, most_use, speculation, flushes_files,
                 memory_failures)
  std::string wrong() const;
};

/// The state of a process.
struct ProcessState {
  std::uint32_t membarriers = 0;     ///< the membarrier commands that register it
  std::uint32_t write_execute = 0;   ///< PR_GET_MDWE
  std::uint64_t register_parts = 0;  ///< extended registers that it may use (ARCH_GET_XCOMP_PERM); 0: the kernel has no
                                     ///< such permission
  std::uint32_t huge_pages = 0;      ///< PR_GET_THP_DISABLE
  bool merges_memory = false;        ///< PR_SET_MEMORY_MERGE
  std::int32_t oom_score = 0;        ///< /proc/PID/oom_score_adj
  std::uint32_t dumped = 0;          ///< kinds of memory in a core dump: /proc/PID/coredump_filter
  bool stopped = false;              ///< by a signal: it waits for SIGCONT
  friend bool operator==(const ProcessState&, const ProcessState&) = default;
  PERDURE_FIELDS(membarriers, write_execute, register_parts, huge_pages, merges_memory, oom_score, dumped, stopped)
  std::string wrong() const;
};

/// The membarrier commands that register a process.
inline constexpr std::uint32_t kMembarrierGlobal = 1 << 2, kMembarrierPrivate = 1 << 4, kMembarrierCores = 1 << 6,
                               kMembarrierSequences = 1 << 8;
inline constexpr std::uint32_t kMembarriers =
    kMembarrierGlobal | kMembarrierPrivate | kMembarrierCores | kMembarrierSequences;
/// Extended registers that a process must request permission for: AMX tiles.
inline constexpr std::uint64_t kPartsToAskFor = std::uint64_t{1} << 18;

}  // namespace perdure::process
