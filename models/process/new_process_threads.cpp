// Carries out the last steps of making a process, after its memory is there.
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "process/memory_policy.hpp"
#include "process/new_process.hpp"
#include "process/proc_text.hpp"
#include "process/remote_memory.hpp"

namespace perdure::process {
namespace {

/// The argument of prctl(PR_SET_MM, PR_SET_MM_MAP).
struct KernelLayout {
  std::uint64_t start_code, end_code, start_data, end_data, start_brk, brk, start_stack, arg_start, arg_end, env_start,
      env_end, auxiliary;
  std::uint32_t auxiliary_bytes;
  std::int32_t program;
};

/// Flags for a thread of a process. The process is a copy of one thread of ours, and makes its other threads.
constexpr std::uint64_t kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

struct Advice {
  const char* flag;
  int advice;
};
constexpr std::array<Advice, 8> kAdvices = {{{"hg", MADV_HUGEPAGE},
                                             {"nh", MADV_NOHUGEPAGE},
                                             {"sr", MADV_SEQUENTIAL},
                                             {"rr", MADV_RANDOM},
                                             {"dd", MADV_DONTDUMP},
                                             {"dc", MADV_DONTFORK},
                                             {"wf", MADV_WIPEONFORK},
                                             {"mg", MADV_MERGEABLE}}};

base::Status call_failed(pid_t thread, const char* what) {
  return base::fail(base::errno_error(errno, what, "thread " + std::to_string(thread)));
}

}  // namespace

// Call it before pages come, so that huge pages are made as such.
base::Status NewProcess::advise(const MapImage& map) {
  for (const Advice& one : kAdvices)
    if (map.has(one.flag))
      PERDURE_CHECK(ask({SYS_madvise, map.begin, map.bytes(), static_cast<std::uint64_t>(one.advice)},
                        std::string("say '") + one.flag + "' of memory of"));
  const std::string_view named = map.name.starts_with(kNamedMemory) ? kNamedMemory : kNamedSharedMemory;
  if (!map.name.starts_with(named) || map.name.size() <= named.size()) return {};
  const std::string name = map.name.substr(named.size(), map.name.size() - named.size() - 1);
  PERDURE_TRY(const auto at, put(base::as_bytes(std::string_view(name.c_str(), name.size() + 1))));
  constexpr std::uint64_t kSetName = 0x53564d41;  // PR_SET_VMA; some kernels lack names, and it works without
  (void)ask({SYS_prctl, kSetName, 0, map.begin, map.bytes(), at}, "name memory of");
  return {};
}

// Call it after pages have come; present pages stay where they are.
base::Status NewProcess::set_policies() {
  for (const MapImage& map : image_->maps) {
    const auto policy = parse_policy(map.policy);
    if (!policy || policy->mode == 0) continue;
    const auto nodes = node_words(policy->nodes);
    PERDURE_TRY(const auto at, put(std::as_bytes(std::span(nodes))));
    const auto done =
        ask({SYS_mbind, map.begin, map.bytes(), static_cast<std::uint64_t>(policy->mode), at, nodes.size() * 64, 0},
            "set the policy '" + map.policy + "' of memory of");
    if (!done) notes_.push_back(done.error().text());
  }
  return {};
}

base::Status NewProcess::set_rights() {
  constexpr std::uint64_t kGuard = 102;  // MADV_GUARD_INSTALL; not possible in locked memory
  for (const PageRun& guard : image_->guards)
    PERDURE_CHECK(ask({SYS_madvise, guard.begin, guard.pages * kPageBytes, kGuard}, "guard memory of"));
  for (const MapImage& map : image_->maps) {
    if (has_pages(map) && (map.protection & (PROT_READ | PROT_WRITE)) != (PROT_READ | PROT_WRITE))
      PERDURE_CHECK(ask({SYS_mprotect, map.begin, map.bytes(), map.protection}, "set rights of memory of"));
    if (map.has("lo")) PERDURE_CHECK(ask({SYS_mlock, map.begin, map.bytes()}, "lock memory of"));
  }
  return {};
}

// A process that may not set its executable continues without. Only ps and /proc/PID/exe show it.
base::Status NewProcess::set_layout() {
  const MemoryLayout& from = image_->layout;
  std::int64_t program = -1;
  auto opened = open(image_->program, false);
  if (!opened && !was_deleted(image_->program.path)) return base::fail(opened.error());
  if (opened) program = *opened;
  if (!opened) notes_.push_back("'" + image_->program.path + "' was captured so: ps and /proc/PID/exe show perdure");
  PERDURE_TRY(const auto auxiliary, put(from.auxiliary, 1024));
  KernelLayout layout{from.start_code,
                      from.end_code,
                      from.start_data,
                      from.end_data,
                      from.start_brk,
                      from.brk,
                      from.start_stack,
                      from.arg_start,
                      from.arg_end,
                      from.env_start,
                      from.env_end,
                      auxiliary,
                      static_cast<std::uint32_t>(from.auxiliary.size()),
                      static_cast<std::int32_t>(program)};
  const auto set = [&]() -> base::Result<std::int64_t> {
    PERDURE_TRY(const auto at, put(bytes_of(layout)));
    return ask({SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, at, sizeof layout, 0}, "say where parts are of");
  };
  auto done = set();
  // While the maker's executable is mapped, the kernel keeps it as the process's own; then both are the same.
  if (!done && (done.error().code == PERDURE_PERMISSION || done.error().code == PERDURE_BUSY)) {
    layout.program = -1;
    done = set();
  }
  PERDURE_CHECK(done);
  if (program >= 0) PERDURE_CHECK(ask({SYS_close, static_cast<std::uint64_t>(program)}, "close the program of"));
  return {};
}

// The thread that made it knows its number only in its own name space.
base::Result<pid_t> NewProcess::newest_thread() const {
  for (const pid_t thread : threads_of(process_)) {
    const bool known =
        thread == process_ || std::find(made_threads_.begin(), made_threads_.end(), thread) != made_threads_.end();
    if (!known) return thread;
  }
  return base::fail(PERDURE_INTERNAL, process_text(process_), "a new thread of it is not to be seen");
}

base::Status NewProcess::make_threads() {
  for (const ThreadImage& thread : image_->threads) {
    if (thread.number == image_->number) continue;
    PERDURE_TRY(const auto number, put(bytes_of(thread.number), 256));
    clone_args arguments{};
    arguments.flags = kThreadFlags;
    arguments.set_tid = number;
    arguments.set_tid_size = 1;
    PERDURE_TRY(const auto at, put(bytes_of(arguments)));
    const std::string what = "make thread " + std::to_string(thread.number);
    const auto made = ask({SYS_clone3, at, sizeof arguments}, what + " of");
    if (!made && made.error().code == PERDURE_EXISTS)
      return base::fail(PERDURE_EXISTS, process_text(process_), what + ": " + taken_text(thread.number),
                        "end that one, or wait: a program knows the numbers of its threads", true);
    if (!made) return base::fail(made.error());
    if (space_) {
      PERDURE_TRY(numbers_[thread.number], newest_thread());
    }
    made_threads_.push_back(here(thread.number));
    if (*made != thread.number || !wait_for_stop(here(thread.number)))
      return base::fail(PERDURE_INTERNAL, "thread " + std::to_string(thread.number), "it did not begin");
  }
  return {};
}

base::Status NewProcess::queue_signals(pid_t thread, const std::vector<std::vector<std::byte>>& signals,
                                       bool of_thread) {
  for (const auto& signal : signals) {
    PERDURE_TRY(const auto at, put(signal));
    std::int32_t number = 0;
    std::memcpy(&number, signal.data(), sizeof number);
    const auto whose = static_cast<std::uint64_t>(image_->number), who = static_cast<std::uint64_t>(thread),
               which = static_cast<std::uint64_t>(number);
    PERDURE_CHECK(ask(here(thread),
                      of_thread ? SystemCall{SYS_rt_tgsigqueueinfo, whose, who, which, at}
                                : SystemCall{SYS_rt_sigqueueinfo, whose, which, at},
                      "send the pending signal " + std::to_string(number) + " to"));
  }
  return {};
}

// Without recorded processors it keeps those of its maker, which is us.
base::Status NewProcess::set_schedule(const ThreadImage& thread) {
  const pid_t who = here(thread.number);
  std::vector<unsigned long> words(thread.cpus.empty() ? 0 : thread.cpus.back() / 64 + 1);
  for (const auto cpu : thread.cpus) words[cpu / 64] |= 1UL << (cpu % 64);
  if (!words.empty() && ::syscall(SYS_sched_setaffinity, who, words.size() * sizeof words[0], words.data()) != 0)
    return call_failed(who, "set its processors");
  const sched_param parameters{thread.priority};
  if (thread.policy != SCHED_OTHER && ::sched_setscheduler(who, thread.policy, &parameters) != 0)
    return call_failed(who, "set how it is scheduled");
  if (::setpriority(PRIO_PROCESS, static_cast<id_t>(who), thread.nice) != 0)
    return call_failed(who, "set how nice it is");
  return {};
}

base::Status NewProcess::set_memory_policy(const ThreadImage& thread) {
  if (thread.memory_policy == 0) return {};
  const auto nodes = node_words(thread.memory_nodes);
  PERDURE_TRY(const auto at, put(std::as_bytes(std::span(nodes))));
  const auto done = ask(here(thread.number),
                        {SYS_set_mempolicy, static_cast<std::uint64_t>(thread.memory_policy), at, nodes.size() * 64},
                        "set the memory policy of thread " + std::to_string(thread.number) + " of");
  if (!done) notes_.push_back(done.error().text());
  return {};
}

base::Status NewProcess::set_thread(const ThreadImage& thread) {
  const pid_t who = here(thread.number);
  const std::string its = "of thread " + std::to_string(who) + " of";
  PERDURE_CHECK(set_schedule(thread));
  constexpr std::uint64_t kNameBytes = 16;
  std::array<char, kNameBytes> name{};
  std::copy_n(thread.name.data(), std::min<std::size_t>(thread.name.size(), kNameBytes - 1), name.data());
  PERDURE_TRY(const auto at, put(bytes_of(name)));
  PERDURE_CHECK(ask(who, {SYS_prctl, PR_SET_NAME, at}, "set the name " + its));
  PERDURE_CHECK(ask(who, {SYS_prctl, PR_SET_TIMERSLACK, thread.timer_slack_ns}, "set the timer slack " + its));
  PERDURE_CHECK(ask(who, {SYS_prctl, PR_SET_PDEATHSIG, static_cast<std::uint64_t>(thread.death_signal)},
                    "set the death signal " + its));
  constexpr std::uint64_t kDisabled = 2, kDisarms = 1ULL << 31;  // SS_DISABLE, SS_AUTODISARM
  const std::array<std::uint64_t, 3> stack = {
      thread.alternate_stack[0], thread.alternate_stack[1] & (kDisabled | kDisarms), thread.alternate_stack[2]};
  PERDURE_TRY(const auto stack_at, put(bytes_of(stack)));
  PERDURE_CHECK(ask(who, {SYS_sigaltstack, stack_at, 0}, "set the alternate stack " + its));
  PERDURE_CHECK(ask(who, {SYS_set_tid_address, thread.clear_number}, "set the number's address " + its));
  if (thread.robust_list_bytes != 0)
    PERDURE_CHECK(
        ask(who, {SYS_set_robust_list, thread.robust_list, thread.robust_list_bytes}, "set the robust list " + its));
  if (thread.rseq.address != 0)
    PERDURE_CHECK(ask(who, {SYS_rseq, thread.rseq.address, thread.rseq.bytes, 0, thread.rseq.signature},
                      "set the restartable sequences " + its));
  PERDURE_CHECK(set_memory_policy(thread));
  PERDURE_CHECK(set_state(thread));
  return queue_signals(thread.number, thread.pending_signals, true);
}

base::Status NewProcess::set_process() {
  PERDURE_CHECK(queue_signals(image_->number, image_->pending_signals, false));
  PERDURE_CHECK(make_timers());
  for (const Limit& limit : image_->limits) {
    const rlimit wanted{limit.now, limit.most};
    if (::prlimit(process_, static_cast<__rlimit_resource>(limit.resource), &wanted, nullptr) == 0) continue;
    if (errno != EPERM) return call_failed(process_, "set its limits");
    // The program may have had more than we may give. It gets as much as possible.
    rlimit ours{};
    if (::prlimit(process_, static_cast<__rlimit_resource>(limit.resource), nullptr, &ours) != 0) continue;
    ours.rlim_cur = std::min(limit.now, ours.rlim_max);
    (void)::prlimit(process_, static_cast<__rlimit_resource>(limit.resource), &ours, nullptr);
  }
  return {};
}

// Uses the system call instruction of the vdso, which stays.
base::Status NewProcess::leave_foothold() {
  PERDURE_TRY(instruction_, find_call_instruction_of(process_));
  if (!image_->dumpable) PERDURE_CHECK(ask({SYS_prctl, PR_SET_DUMPABLE, 0}, "keep from dumps"));
  PERDURE_CHECK(ask({SYS_munmap, foothold_, 16 * kPageBytes}, "take the foothold away from"));
  return set_last_state();
}

// Stops the thread where the kernel decides about restarting an interrupted call. It does not do that after a call made
// for us.
base::Status NewProcess::settle(const ThreadImage& thread) {
  const pid_t who = here(thread.number);
  if (trace(PTRACE_INTERRUPT, who, 0, 0) < 0 || trace(PTRACE_CONT, who, 0, 0) < 0)
    return trace_failed(who, "it cannot be made to go on");
  for (;;) {
    const auto stop = wait_for_stop(who);
    if (!stop) return base::fail(PERDURE_NOT_FOUND, "thread " + std::to_string(who), "it has ended");
    if (stop->by_us) break;
    if (trace(PTRACE_CONT, who, 0, 0) < 0) return trace_failed(who, "it cannot be made to go on");
  }
  PERDURE_CHECK(set_extended_registers(who, thread.extended_registers));
  const Registers registers = registers_of(thread);
  PERDURE_CHECK(set_registers(who, registers));
  return set_blocked_signals(who, thread.blocked_signals);
}

base::Status NewProcess::finish() {
  PERDURE_CHECK(set_policies());
  PERDURE_CHECK(set_rights());
  PERDURE_CHECK(set_layout());
  const Privileges has = parse_privileges(proc_text("/proc/" + std::to_string(process_) + "/status"));
  PERDURE_CHECK(give_up_bounding(has));
  PERDURE_CHECK(set_state());
  PERDURE_CHECK(make_threads());
  for (const ThreadImage& thread : image_->threads) PERDURE_CHECK(set_thread(thread));
  PERDURE_CHECK(set_process());
  for (const ThreadImage& thread : image_->threads) PERDURE_CHECK(give_up_capabilities(here(thread.number), has));
  for (auto& one : differences(image_->privileges, has)) notes_.push_back(std::move(one));
  PERDURE_CHECK(leave_foothold());
  for (const ThreadImage& thread : image_->threads) PERDURE_CHECK(settle(thread));
  return {};
}

// Once the first thread runs, it may end the process or start another program before other threads are released. That
// is the program's own action. Then the tracer only has to reap the other threads.
base::Status NewProcess::release() {
  if (space_) PERDURE_CHECK(space_->release());
  if (image_->state.stopped) ::kill(process_, SIGSTOP);  // takes effect before its first instruction
  for (const ThreadImage& thread : image_->threads) {
    const bool is_first = process_ != 0;
    if (trace(PTRACE_DETACH, here(thread.number), 0, 0) < 0) {
      if (is_first) return trace_failed(here(thread.number), "it cannot be released");
      if (thread.number != image_->number) reap(here(thread.number));
    }
    process_ = 0;
  }
  return {};
}

}  // namespace perdure::process
