#include "process/read_kernel_state.hpp"

#include <linux/kcmp.h>
#include <sys/syscall.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "process/bystander.hpp"
#include "process/scratch.hpp"

namespace perdure::process {
namespace {

/// Returns whether a sandbox keeps the thread from looking at the bystander. Nothing: it could not be tested.
base::Result<std::optional<bool>> is_confined(Scratch& scratch, pid_t bystander) {
  const auto other = static_cast<std::uint64_t>(bystander);
  PERDURE_TRY(const auto looked, scratch.ask({SYS_kcmp, other, other, KCMP_VM, 0, 0}));
  if (looked == -EPERM || looked == -EACCES) return std::optional(true);
  return looked < 0 ? std::optional<bool>() : std::optional(false);
}

AskedThread asked_by(Scratch& scratch, pid_t process, pid_t thread) {
  AskedThread asked;
  asked.process = process;
  asked.thread = thread;
  asked.ask = [&scratch](const SystemCall& call) { return scratch.ask(call); };
  asked.address = scratch.address();
  asked.value = [&scratch] { return scratch.value<std::uint64_t>(); };
  return asked;
}

}  // namespace

base::Result<LostState> read_kernel_state(Tracee& tracee, const std::vector<MemoryMap>& maps, ProcessImage& image) {
  LostState unkept;
  std::optional<Bystander> bystander;
  if (may_be_confined()) {
    auto started = Bystander::start(image.user, image.group);
    if (started) bystander.emplace(std::move(*started));
    unkept.told = bystander.has_value();
  }
  for (ThreadImage& thread : image.threads) {
    PERDURE_TRY(auto scratch, Scratch::of(tracee, thread.number, maps));
    const AskedThread asked = asked_by(scratch, tracee.process(), thread.number);
    PERDURE_TRY(thread.state, read_thread_state(asked));
    if (bystander) {
      PERDURE_TRY(const auto confined, is_confined(scratch, bystander->process()));
      unkept.told = unkept.told && confined.has_value();
      if (confined.value_or(false)) unkept.confined.push_back(thread.number);
    }
    if (&thread != &image.threads.front()) continue;
    PERDURE_TRY(image.state, read_process_state(asked));
    PERDURE_TRY(unkept.protection_keys, read_protection_keys(asked.ask));
  }
  return unkept;
}

}  // namespace perdure::process
