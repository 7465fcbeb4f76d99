#pragma once
// Clocks that count from a start of the machine (CLOCK_MONOTONIC, CLOCK_BOOTTIME): they go back when a program is
// resumed after a reboot, or on another machine. A name space of time has them go on (time_namespaces(7)).
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "base/result.hpp"

namespace perdure::process {

/// What a process reads of them, in ns.
struct ClockImage {
  std::int64_t monotonic_ns = 0, boottime_ns = 0;
  PERDURE_FIELDS(monotonic_ns, boottime_ns)
  friend bool operator==(const ClockImage&, const ClockImage&) = default;
};

/// Now, of a process; of this one for its own number.
ClockImage clocks_of(pid_t process);

/// What /proc/PID/timens_offsets says: by how much its clocks are ahead of the machine's. Zeros where the kernel has no
/// name spaces of time. Pure.
ClockImage parse_offsets(const std::string& text);

/// By how much the clocks of a new process have to be ahead of those of who makes it, so that none goes back; zeros:
/// they are ahead anyway. Pure.
ClockImage shift_to(const ClockImage& captured, const ClockImage& here);

/// As the kernel takes it (/proc/self/timens_offsets), with room for what a raw system call writes.
struct OffsetsText {
  std::array<char, 96> text{};
  std::size_t bytes = 0;
};
/// Pure.
OffsetsText text_of_offsets(const ClockImage& offsets);
/// `shift` on top of the offsets that this process has.
ClockImage offsets_with(const ClockImage& shift);

/// This process makes others whose clocks are ahead by `shift` while this lives, and afterwards as before. Of its first
/// thread.
class ShiftedChildren {
 public:
  /// PERDURE_PERMISSION: the system lets this user make no name space of time.
  static base::Result<ShiftedChildren> begin(const ClockImage& shift);
  ShiftedChildren(ShiftedChildren&& other) noexcept;
  ShiftedChildren& operator=(ShiftedChildren&&) = delete;
  ~ShiftedChildren();

 private:
  explicit ShiftedChildren(const ClockImage& own) : own_(own) {}
  ClockImage own_;
  bool active_ = true;
};

/// What makes processes of the calling thread have these offsets, by raw calls only: 0, or an error number.
int shift_children(const OffsetsText& offsets);

}  // namespace perdure::process
