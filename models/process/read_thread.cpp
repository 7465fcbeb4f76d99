#include "process/read_thread.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "process/pages.hpp"
#include "process/proc_text.hpp"
#include "process/remote_memory.hpp"
#include "process/stops.hpp"

namespace perdure::process {
namespace {

base::Status refused(pid_t thread, const char* what, int error) {
  return base::fail(base::errno_error(error, what, "thread " + std::to_string(thread)));
}

/// Turns a negative result into an error.
base::Status good(pid_t thread, const char* what, const base::Result<std::int64_t>& answer) {
  if (!answer) return base::fail(answer.error());
  return *answer < 0 ? refused(thread, what, static_cast<int>(-*answer)) : base::Status();
}

base::Result<std::vector<std::vector<std::byte>>> read_signals(pid_t thread, std::uint32_t flags) {
  std::vector<std::vector<std::byte>> all;
  for (;;) {
    std::array<siginfo_t, 16> some{};
    __ptrace_peeksiginfo_args wanted{all.size(), flags, static_cast<std::int32_t>(some.size())};
    const long got = trace(PTRACE_PEEKSIGINFO, thread, &wanted, some.data());
    if (got < 0) PERDURE_CHECK(trace_failed(thread, "its pending signals cannot be read"));
    for (long i = 0; i < got; ++i) {
      const auto bytes = bytes_of(some[static_cast<std::size_t>(i)]);
      all.emplace_back(bytes.begin(), bytes.end());
    }
    if (got == 0) return all;
  }
}

base::Status read_scheduling(ThreadImage& image) {
  const pid_t thread = image.number;
  image.policy = ::sched_getscheduler(thread);
  sched_param parameters{};
  if (image.policy < 0 || ::sched_getparam(thread, &parameters) != 0)
    return refused(thread, "ask how it is scheduled", errno);
  image.priority = parameters.sched_priority;
  errno = 0;
  image.nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread));
  if (errno != 0) return refused(thread, "ask how nice it is", errno);
  std::vector<unsigned long> words(1024);
  const long bytes = ::syscall(SYS_sched_getaffinity, thread, words.size() * sizeof words[0], words.data());
  if (bytes < 0) return refused(thread, "ask for its processors", errno);
  for (std::uint32_t cpu = 0; cpu < static_cast<std::uint64_t>(bytes) * 8; ++cpu)
    if ((words[cpu / 64] >> (cpu % 64) & 1) != 0) image.cpus.push_back(cpu);
  return {};
}

// On a machine with one node, its policy has no effect.
base::Status read_memory_policy(ThreadImage& image, Scratch& scratch) {
  if (count_nodes() == 1) return {};
  constexpr std::uint64_t kMostNodes = 1024;
  PERDURE_CHECK(good(image.number, "ask for its memory policy",
                     scratch.ask({SYS_get_mempolicy, scratch.address(), scratch.address() + 8, kMostNodes, 0, 0})));
  PERDURE_TRY(image.memory_policy, scratch.value<std::int32_t>());
  PERDURE_TRY(const auto words, scratch.value<std::array<std::uint64_t, kMostNodes / 64>>(8));
  for (std::uint32_t node = 0; node < kMostNodes; ++node)
    if ((words[node / 64] >> (node % 64) & 1) != 0) image.memory_nodes.push_back(node);
  return {};
}

base::Status read_own(ThreadImage& image, Scratch& scratch) {
  const pid_t thread = image.number;
  const std::uint64_t at = scratch.address();
  PERDURE_CHECK(good(thread, "ask for its alternate stack", scratch.ask({SYS_sigaltstack, 0, at})));
  PERDURE_TRY(const auto stack, scratch.value<stack_t>());
  image.alternate_stack = {reinterpret_cast<std::uint64_t>(stack.ss_sp), static_cast<std::uint64_t>(stack.ss_flags),
                           stack.ss_size};
  PERDURE_CHECK(good(thread, "ask what is cleared at its end", scratch.ask({SYS_prctl, PR_GET_TID_ADDRESS, at})));
  PERDURE_TRY(image.clear_number, scratch.value<std::uint64_t>());
  PERDURE_CHECK(good(thread, "ask for its death signal", scratch.ask({SYS_prctl, PR_GET_PDEATHSIG, at})));
  PERDURE_TRY(image.death_signal, scratch.value<std::int32_t>());
  // Only a user with CAP_SYS_NICE may read this in /proc.
  PERDURE_TRY(const auto slack, scratch.ask({SYS_prctl, PR_GET_TIMERSLACK}));
  image.timer_slack_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(slack, 0));
  return read_memory_policy(image, scratch);
}

base::Status read_rseq(ThreadImage& image) {
  __ptrace_rseq_configuration rseq{};
  if (trace(static_cast<__ptrace_request>(PTRACE_GET_RSEQ_CONFIGURATION), image.number, sizeof rseq, &rseq) < 0)
    return trace_failed(image.number, "its restartable sequences cannot be read");
  image.rseq = {rseq.rseq_abi_pointer, rseq.rseq_abi_pointer == 0 ? 0 : rseq.rseq_abi_size, rseq.signature};
  return {};
}

/// If the previous page cannot be read, returns only the bytes in the page of the last one.
std::vector<std::byte> code_before(pid_t thread, std::uint64_t address) {
  const std::uint64_t in_page = std::min<std::uint64_t>(kCodeBefore, (address - 1) % kPageBytes + 1);
  for (const std::uint64_t length : {std::uint64_t{kCodeBefore}, in_page}) {
    std::vector<std::byte> code(length);
    if (read_memory(thread, address - length, code)) return code;
  }
  return {};
}

}  // namespace

base::Result<std::vector<std::vector<std::byte>>> read_shared_signals(pid_t thread) {
  return read_signals(thread, PTRACE_PEEKSIGINFO_SHARED);
}

base::Result<std::vector<std::vector<std::byte>>> read_own_signals(pid_t thread) { return read_signals(thread, 0); }

base::Status read_between_signals(const std::function<base::Result<std::vector<std::vector<std::byte>>>()>& pending,
                                  const std::function<base::Status()>& read) {
  constexpr int kMostTries = 1000;
  PERDURE_TRY(auto before, pending());
  for (int tries = 0; tries < kMostTries; ++tries) {
    PERDURE_CHECK(read());
    PERDURE_TRY(auto behind, pending());
    if (before == behind) return {};
    before = std::move(behind);
  }
  return base::fail(PERDURE_BUSY, "its pending signals", "they change without end", "try again", true);
}

base::Result<ThreadImage> read_thread(Tracee& tracee, pid_t thread, const std::vector<MemoryMap>& maps) {
  ThreadImage image;
  image.number = thread;
  const std::string folder = "/proc/" + std::to_string(tracee.process()) + "/task/" + std::to_string(thread);
  image.name = proc_text(folder + "/comm");
  if (!image.name.empty()) image.name.pop_back();  // the newline
  PERDURE_TRY(const Registers registers, tracee.registers(thread));
  const Registers stored = to_store(registers, [&] { return code_before(thread, next_instruction(registers)); });
  const auto bytes = bytes_of(stored);
  image.registers.assign(bytes.begin(), bytes.end());
  PERDURE_TRY(image.extended_registers, tracee.extended_registers(thread));
  PERDURE_TRY(image.blocked_signals, tracee.blocked_signals(thread));
  PERDURE_CHECK(read_rseq(image));
  PERDURE_CHECK(read_scheduling(image));
  void* robust = nullptr;
  std::size_t robust_bytes = 0;
  if (::syscall(SYS_get_robust_list, thread, &robust, &robust_bytes) != 0)
    PERDURE_CHECK(refused(thread, "ask for its robust list", errno));
  image.robust_list = reinterpret_cast<std::uint64_t>(robust);
  image.robust_list_bytes = robust_bytes;
  PERDURE_TRY(auto scratch, Scratch::of(tracee, thread, maps));
  PERDURE_CHECK(read_own(image, scratch));
  return image;
}

}  // namespace perdure::process
