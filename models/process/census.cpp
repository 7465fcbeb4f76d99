#include "process/census.hpp"

#include <array>

namespace perdure::process {
namespace {

constexpr Fate kIsKept = Fate::kept, kIsRefused = Fate::refused, kIsLost = Fate::lost;

constexpr std::array kCensus = {
    // Memory.
    StateKind{"content, rights, names, advice and locks of memory", "`/proc/PID/maps`, `smaps`, `PAGEMAP_SCAN`",
              kIsKept, "locked as a whole where it was to be locked as it is touched",
              "Awkward/RoundTrips.EndAsIfNothingHadBeen/mappings"},
    StateKind{"guards in memory (`MADV_GUARD_INSTALL`)", "`PAGEMAP_SCAN`", kIsKept, "installed again",
              "HardToHold.AreThoseWithGuardsInTheirMemory"},
    StateKind{"sealed memory (`mseal`)", "`smaps`: `sl`", kIsKept, "sealed again when all else is done",
              "Census.KeepsSealsOfMemory"},
    StateKind{"that no memory is written and executed (`PR_SET_MDWE`)", "`PR_GET_MDWE`", kIsKept,
              "set when its memory is made", "Census.KeepsThatNoMemoryIsWrittenAndExecuted"},
    StateKind{"keys that protect memory (`pkey_alloc`)", "`pkey_mprotect` of an address without memory", kIsRefused,
              "memory behind them would be open", "CensusOfFacts.RefusesKeysOfMemory"},
    StateKind{"shadow stacks (CET)", "`status`: `x86_Thread_features`", kIsRefused,
              "return addresses are not brought back", "CensusOfFacts.RefusesShadowStacksAndTagsOfAddresses"},
    StateKind{"tags in addresses (LAM)", "`status`: `untag_mask`", kIsRefused, "the new process would not know of them",
              "CensusOfFacts.RefusesShadowStacksAndTagsOfAddresses"},
    StateKind{"policies of memory", "`numa_maps`, `get_mempolicy`", kIsKept, "see [affinity](#affinity)",
              "MemoryPolicies.AreWrittenAsTheyAreRead"},
    StateKind{"that there are no huge pages (`PR_SET_THP_DISABLE`)", "`PR_GET_THP_DISABLE`", kIsKept, "with its flag",
              "Census.KeepsThatThereAreNoHugePages"},
    StateKind{"that pages are merged (`PR_SET_MEMORY_MERGE`)", "`PR_GET_MEMORY_MERGE`", kIsKept,
              "a note where this kernel cannot", "Census.KeepsThatPagesAreMerged"},
    StateKind{"what a dump has (`coredump_filter`)", "`/proc/PID/coredump_filter`", kIsKept, "written again",
              "Census.KeepsWhatADumpHas"},
    StateKind{"how likely it is killed for memory (`oom_score_adj`)", "`/proc/PID/oom_score_adj`", kIsKept,
              "a note where this user may not", "Census.KeepsHowLikelyItIsKilledForMemory"},
    // Threads.
    StateKind{"registers with floating point and vectors", "`PTRACE_GETREGSET`", kIsKept,
              "refused where a new process cannot have them", "Awkward/RoundTrips.EndAsIfNothingHadBeen/registers"},
    StateKind{"the right to tiles of AMX", "`ARCH_GET_XCOMP_PERM`", kIsKept, "asked for again",
              "CensusOfFacts.AsksForTheTilesOfAmx"},
    StateKind{"robust lists", "`get_robust_list`", kIsKept, "set again",
              "Awkward/RoundTrips.EndAsIfNothingHadBeen/numbers"},
    StateKind{"restartable sequences (`rseq`)", "`PTRACE_GET_RSEQ_CONFIGURATION`", kIsKept, "registered again",
              "Census.KeepsRestartableSequences"},
    StateKind{"registrations for memory barriers (`membarrier`)", "`MEMBARRIER_CMD_GET_REGISTRATIONS`", kIsKept,
              "registered again before it runs", "Census.KeepsRegistrationsForMemoryBarriers"},
    StateKind{"calls that it sends to itself (`PR_SET_SYSCALL_USER_DISPATCH`)",
              "`PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG`", kIsRefused, "it could not be asked for anything",
              "HardToHold.AreThoseWhoseCallsGoToThemselves"},
    StateKind{"policies of the scheduler, nice, masks of processors", "`sched_getscheduler`, `sched_getaffinity`",
              kIsKept, "`SCHED_DEADLINE` is refused", "Census.KeepsSchedulingOfThreads"},
    StateKind{"bounds of use (uclamp)", "`sched_getattr`", kIsKept, "a note where this kernel cannot",
              "CensusOfFacts.SetsBoundsOfUse"},
    StateKind{"with whom it shares cores (`PR_SCHED_CORE`)", "`PR_SCHED_CORE_GET`", kIsRefused,
              "who else has the cookie is not kept", "CensusOfFacts.RefusesCoresThatOthersShare"},
    StateKind{"I/O priorities", "`ioprio_get`", kIsKept, "a note where this user may not",
              "Census.KeepsIoPrioritiesOfThreads"},
    StateKind{"timer slack", "`PR_GET_TIMERSLACK`", kIsKept, "set again", "Census.KeepsTimerSlackOfThreads"},
    StateKind{"who may read the time stamp counter (`PR_SET_TSC`)", "`PR_GET_TSC`", kIsKept, "set again",
              "Census.KeepsWhoMayReadTheTimeStampCounter"},
    StateKind{"control of speculation", "`status`, `PR_GET_SPECULATION_CTRL`", kIsKept, "where a thread has the choice",
              "CensusOfFacts.SetsSpeculationOfWhichAThreadHasTheChoice"},
    StateKind{"that it writes files back (`PR_SET_IO_FLUSHER`)", "`stat`: flags", kIsKept,
              "a note where this user may not", "CensusOfFacts.SaysWhoWritesFilesBack"},
    StateKind{"what becomes of it where memory fails (`PR_MCE_KILL`)", "`PR_MCE_KILL_GET`", kIsKept, "set again",
              "Census.KeepsWhatBecomesOfThreadsWhereMemoryFails"},
    StateKind{"signals at the end of a parent (`PR_SET_PDEATHSIG`)", "`PR_GET_PDEATHSIG`", kIsKept,
              "none with `--detach`", "Census.KeepsSignalsAtTheEndOfAParent"},
    // Rights.
    StateKind{"users, groups, capabilities", "`/proc/PID/status`", kIsKept, "no more than whoever resumes it has",
              "Privileges.AreNoMoreThanBothHaveOfThem"},
    StateKind{"securebits, capabilities that are kept (`PR_SET_KEEPCAPS`)", "`PR_GET_SECUREBITS`", kIsKept,
              "of each thread", "Census.KeepsSecurebitsOfEachThread"},
    StateKind{"that it gets no privileges (`PR_SET_NO_NEW_PRIVS`)", "`/proc/PID/status`", kIsKept, "set again",
              "Census.KeepsThatItGetsNoPrivileges"},
    StateKind{"Landlock", "whether each thread may look at a process of its own user that has no rights", kIsRefused,
              "no call tells what it forbids; a note where it could not be tried",
              "Census.RefusesWhatLandlockConfines"},
    StateKind{"seccomp", "`/proc/PID/status`", kIsRefused, "filters are not kept", "Obstacles.AreFactsAboutTheProcess"},
    StateKind{"name spaces and root directory", "`/proc/PID/ns`", kIsRefused,
              "where they are not those of `perdure`; that of time is kept", "Obstacles.AreFactsAboutTheProcess"},
    StateKind{"that it is not dumped (`PR_SET_DUMPABLE`)", "`PR_GET_DUMPABLE`", kIsKept,
              "2, which nobody may set, as 0", "Census.KeepsThatItIsNotDumped"},
    StateKind{"personality, umask", "`/proc/PID/personality`, `status`", kIsKept, "that of another system is refused",
              "Census.KeepsPersonalityAndUmask"},
    StateKind{"that it reaps orphans (`PR_SET_CHILD_SUBREAPER`)", "`PR_GET_CHILD_SUBREAPER`", kIsKept, "set again",
              "Census.KeepsThatItReapsOrphans"},
    StateKind{"who may trace it (`PR_SET_PTRACER`)", "nobody tells", kIsLost, "whoever resumes it may", ""},
    StateKind{"labels of security modules, keys (`keyctl`), login", "nobody tells all of it", kIsLost,
              "those of whoever resumes it", ""},
    StateKind{"control groups, autogroup", "`/proc/PID/cgroup`", kIsLost, "those of whoever resumes it", ""},
    // Time, limits and others.
    StateKind{"limits (`setrlimit`)", "`prlimit`", kIsKept, "as much as whoever resumes it may give",
              "Census.KeepsLimitsAndTellsThatProcessorTimeCountsAnew"},
    StateKind{"time of processors that it has used, and of `RLIMIT_CPU`", "`getrusage`", kIsLost,
              "counts from 0; a note where there is such a limit",
              "Census.KeepsLimitsAndTellsThatProcessorTimeCountsAnew"},
    StateKind{"clocks from a start of the machine", "`clock_gettime`, `timens_offsets`", kIsKept,
              "see [resume](#resume)", "Clocks.AreShiftedOnlyWhereTheyWouldGoBack"},
    StateKind{"signals: handlers, masks, pending ones, alternate stacks", "`rt_sigaction`, `PTRACE_PEEKSIGINFO`",
              kIsKept, "queued again", "Awkward/RoundTrips.EndAsIfNothingHadBeen/pending"},
    StateKind{"timers (`setitimer`, `timer_create`)", "`getitimer`, `/proc/PID/timers`", kIsKept, "with what was left",
              "Awkward/RoundTrips.EndAsIfNothingHadBeen/timers"},
    StateKind{"semaphores of System V that its end changes back (`SEM_UNDO`)", "`kcmp`, `/proc/sysvipc/sem`",
              kIsRefused, "where it has a list of them, and may have changed one",
              "Census.RefusesSemaphoresThatItsEndChangesBack"},
    StateKind{"shared memory of System V", "`/proc/PID/maps`", kIsRefused, "others may have it",
              "Obstacles.AreMapsOfWhatIsNotCaptured"},
    StateKind{"directories that tell of changes (`F_NOTIFY`)", "`F_GETOWN` of a directory", kIsRefused,
              "which changes nobody tells", "Census.RefusesDirectoriesThatTellOfChanges"},
    StateKind{"a tracer", "`/proc/PID/status`", kIsRefused, "a process has one", "Obstacles.AreFactsAboutTheProcess"},
};

const char* text_of(Fate fate) {
  switch (fate) {
    case Fate::kept:
      return "kept";
    case Fate::refused:
      return "refused";
    case Fate::lost:
      return "lost";
  }
  return "";
}

}  // namespace

std::span<const StateKind> census() { return kCensus; }

std::string census_table() {
  std::string table = "| what the kernel keeps | asked by | becomes | |\n| --- | --- | --- | --- |\n";
  for (const StateKind& one : kCensus)
    table += std::string("| ") + one.name + " | " + one.asked + " | " + text_of(one.fate) + " | " + one.how + " |\n";
  return table;
}

}  // namespace perdure::process
