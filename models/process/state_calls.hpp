#pragma once
// Plans the system calls that give a process in the making, or a thread of it, the state of its image. Pure.
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
  bool may_fail = false;  ///< it goes on without, and a note says so; else it may do more than it could, or ends by it
  friend bool operator==(const StateCall&, const StateCall&) = default;
};

/// Calls, in this order, that turn the state `now` into the one that is `wanted`.
std::vector<StateCall> calls_for(const ThreadState& wanted, const ThreadState& now);
/// Bounds of use are to be set, which others do for it (scheduling.hpp).
bool has_other_use(const ThreadState& wanted, const ThreadState& now);
/// The same, while it has one thread.
std::vector<StateCall> calls_for(const ProcessState& wanted, const ProcessState& now);
/// Behind all that is done to its memory.
std::vector<StateCall> last_calls_for(const ProcessImage& image, const ProcessState& now);

/// For people: what is lost where `image` is brought back, and its program may miss. Pure.
std::vector<std::string> notes_of_lost(const ProcessImage& image);

}  // namespace perdure::process
