#pragma once
// An image stores timers of timer_create in this form.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "base/result.hpp"

namespace perdure::process {

class Scratch;

struct PosixTimer {
  std::int32_t id = 0;  ///< the kernel's id, which the C library keeps
  std::int32_t clock = 0;
  std::int32_t notify = 0;  ///< SIGEV_SIGNAL, SIGEV_NONE, SIGEV_THREAD_ID
  std::int32_t signal = 0;
  std::uint64_t value = 0;                ///< that the signal carries
  std::int32_t thread = 0;                ///< the thread that gets the signal, with SIGEV_THREAD_ID
  std::array<std::int64_t, 4> setting{};  ///< interval in s and ns, time left in s and ns; 0 left: disarmed
  friend bool operator==(const PosixTimer&, const PosixTimer&) = default;
  PERDURE_FIELDS(id, clock, notify, signal, value, thread, setting)
  std::string wrong() const;
};

/// Parses /proc/PID/timers, ascending by id; `setting` is not in it. Returns nothing if it is malformed. Pure.
std::optional<std::vector<PosixTimer>> parse_timers(std::string_view text);
/// For a process that stands still; `text` is its /proc/PID/timers. Its thread asks the kernel for the remaining times.
base::Result<std::vector<PosixTimer>> read_timers(std::string_view text, Scratch& scratch, const std::string& object);

}  // namespace perdure::process
