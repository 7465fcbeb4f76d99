#pragma once
// Restores clocks that count from boot: CLOCK_MONOTONIC and CLOCK_BOOTTIME. They would go back after a reboot, or on
// another machine. A resume continues them with a time name space (time_namespaces(7)).
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "base/result.hpp"

namespace perdure::process {

/// The values that a process reads from these clocks, in ns.
struct ClockImage {
  std::int64_t monotonic_ns = 0, boottime_ns = 0;
  PERDURE_FIELDS(monotonic_ns, boottime_ns)
  friend bool operator==(const ClockImage&, const ClockImage&) = default;
};

/// Returns the current values for a process. For its own number, a process reads them directly.
ClockImage clocks_of(pid_t process);

/// Reads /proc/PID/timens_offsets: how far the clocks of a process are ahead of the machine's. Returns zeros if the
/// kernel has no time name spaces. Pure.
ClockImage parse_offsets(const std::string& text);

/// Returns how far the clocks of a new process must be ahead of its maker's, so that none goes back. Zeros mean that no
/// clock would. Pure.
ClockImage shift_to(const ClockImage& captured, const ClockImage& here);

/// The text for /proc/self/timens_offsets, in memory that a raw system call can write from.
struct OffsetsText {
  std::array<char, 96> text{};
  std::size_t bytes = 0;
};
/// Pure.
OffsetsText text_of_offsets(const ClockImage& offsets);
/// Adds `shift` to the offsets of this process.
ClockImage offsets_with(const ClockImage& shift);

/// While this object lives, the clocks of new children are ahead by `shift`. Afterwards they are as before. Only the
/// first thread of a process may use it.
class ShiftedChildren {
 public:
  /// PERDURE_PERMISSION: this user may not make a time name space.
  static base::Result<ShiftedChildren> begin(const ClockImage& shift);
  ShiftedChildren(ShiftedChildren&& other) noexcept;
  ShiftedChildren& operator=(ShiftedChildren&&) = delete;
  ~ShiftedChildren();

 private:
  explicit ShiftedChildren(const ClockImage& own) : own_(own) {}
  ClockImage own_;
  bool active_ = true;
};

/// Gives children of the calling thread these offsets, by raw calls only. Returns 0 or an error number.
int shift_children(const OffsetsText& offsets);

}  // namespace perdure::process
