#include "process/state_calls.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace perdure::process {
namespace {

constexpr std::uint64_t kSetWriteExecute = 65, kSetFlusher = 57, kSetMemoryMerge = 67;
constexpr std::uint64_t kAskForRegisters = 0x1023;  // ARCH_REQ_XCOMP_PERM
constexpr std::uint32_t kKeepsCapabilities = 1 << 4, kOwnChoice = 1;

SystemCall switch_to(std::uint64_t what, std::uint64_t first, std::uint64_t second = 0) {
  return {SYS_prctl, what, first, second, 0, 0};
}

/// The one bit that needs no privilege is set alone.
void add_secure_bits(std::uint32_t wanted, std::uint32_t now, std::vector<StateCall>& calls) {
  if (wanted == now) return;
  if ((wanted ^ now) == kKeepsCapabilities)
    calls.push_back({switch_to(PR_SET_KEEPCAPS, (wanted & kKeepsCapabilities) != 0 ? 1 : 0),
                     "set whether it keeps "
                     "capabilities"});
  else
    calls.push_back({switch_to(PR_SET_SECUREBITS, wanted), "set the securebits"});
}

void add_speculation(const ThreadState& wanted, const ThreadState& now, std::vector<StateCall>& calls) {
  for (std::uint32_t kind = 0; kind < kSpeculations; ++kind) {
    const std::uint32_t chosen = wanted.speculation[kind];
    if (chosen != 0 && chosen != now.speculation[kind])
      calls.push_back({switch_to(PR_SET_SPECULATION_CTRL, kind, chosen & ~kOwnChoice), "set the speculation control"});
  }
}

}  // namespace

std::vector<StateCall> calls_for(const ThreadState& wanted, const ThreadState& now) {
  std::vector<StateCall> calls;
  add_secure_bits(wanted.secure_bits, now.secure_bits, calls);
  if (wanted.counter_access != 0 && wanted.counter_access != now.counter_access)
    calls.push_back({switch_to(PR_SET_TSC, wanted.counter_access), "set who may read the time stamp counter"});
  add_speculation(wanted, now, calls);
  if (wanted.flushes_files != now.flushes_files)
    calls.push_back({switch_to(kSetFlusher, wanted.flushes_files ? 1 : 0), "say that it writes files back", true});
  if (wanted.memory_failures != now.memory_failures)
    calls.push_back({switch_to(PR_MCE_KILL, wanted.memory_failures == 0 ? PR_MCE_KILL_CLEAR : PR_MCE_KILL_SET,
                               wanted.memory_failures == 0 ? 0 : wanted.memory_failures - 1),
                     "say what becomes of it where memory fails", true});
  return calls;
}

bool has_other_use(const ThreadState& wanted, const ThreadState& now) {
  return wanted.most_use != 0 && (wanted.least_use != now.least_use || wanted.most_use != now.most_use);
}

std::vector<StateCall> calls_for(const ProcessState& wanted, const ProcessState& now) {
  std::vector<StateCall> calls;
  for (std::uint32_t one = 1; one <= kMembarriers; one <<= 1)
    if ((wanted.membarriers & ~now.membarriers & one) != 0)
      calls.push_back({{SYS_membarrier, one, 0, 0}, "register for memory barriers (membarrier)"});
#if defined(__x86_64__)
  constexpr std::uint64_t kTiles = 18;
  if ((wanted.register_parts & ~now.register_parts & kPartsToAskFor) != 0)
    calls.push_back({{SYS_arch_prctl, kAskForRegisters, kTiles}, "ask for the tiles of AMX"});
#endif
  if (wanted.merges_memory != now.merges_memory)
    calls.push_back(
        {switch_to(kSetMemoryMerge, wanted.merges_memory ? 1 : 0), "say whether its pages are merged", true});
  return calls;
}

std::vector<StateCall> last_calls_for(const ProcessImage& image, const ProcessState& now) {
  std::vector<StateCall> calls;
  constexpr std::uint32_t kButAdvised = 2;  // PR_THP_DISABLE_EXCEPT_ADVISED
  if ((image.state.huge_pages & kButAdvised) != 0)
    calls.push_back({switch_to(PR_SET_THP_DISABLE, 1, kButAdvised), "choose huge pages where it advised them", true});
  for (const MapImage& map : image.maps)
    if (map.has("sl")) calls.push_back({{kSealCall, map.begin, map.bytes(), 0}, "seal memory (mseal)"});
  if (image.state.write_execute != now.write_execute)
    calls.push_back({switch_to(kSetWriteExecute, image.state.write_execute),
                     "refuse memory that is written and "
                     "executed (PR_SET_MDWE)"});
  return calls;
}

std::vector<std::string> notes_of_lost(const ProcessImage& image) {
  std::vector<std::string> notes;
  for (const Limit& limit : image.limits)
    if (limit.resource == RLIMIT_CPU && limit.now != RLIM_INFINITY)
      notes.push_back("its limit of processor time (RLIMIT_CPU, " + std::to_string(limit.now) +
                      " s) counts anew: the time that it has used is not kept");
  return notes;
}

}  // namespace perdure::process
