#pragma once
// Plans the system calls that give a new process or thread the state of its image. Pure.
#include <string>
#include <vector>

#include "process/image.hpp"
#include "process/kernel_state.hpp"
#include "process/registers.hpp"

namespace perdure::process {

inline constexpr std::uint64_t kSealCall = 462;  ///< mseal: address, bytes

struct StateCall {
  SystemCall call{};
  std::string what;       ///< for people: "set the securebits"
  bool may_fail = false;  ///< a failure is only noted; otherwise the process would get more rights, or end by it
  friend bool operator==(const StateCall&, const StateCall&) = default;
};

/// Returns calls that change the state `now` into `wanted`, in order.
std::vector<StateCall> calls_for(const ThreadState& wanted, const ThreadState& now);
/// Returns whether other utilization clamps are needed. Others set them for the thread (scheduling.hpp).
bool has_other_use(const ThreadState& wanted, const ThreadState& now);
/// The same for a process, which must have one thread.
std::vector<StateCall> calls_for(const ProcessState& wanted, const ProcessState& now);
/// Returns the calls to make after all changes to its memory.
std::vector<StateCall> last_calls_for(const ProcessImage& image, const ProcessState& now);

/// For people: state that a resume of `image` loses and its program may miss. Pure.
std::vector<std::string> notes_of_lost(const ProcessImage& image);

}  // namespace perdure::process
