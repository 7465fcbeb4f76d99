#pragma once
// What /proc/PID/fdinfo/N says. Pure.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "process/descriptors.hpp"

namespace perdure::process {

struct FdInfo {
  std::uint64_t offset = 0;
  std::uint32_t flags = 0;  ///< O_*, O_CLOEXEC included where the descriptor has it
  std::optional<EventCount> event;
  bool semaphore_known = false;  ///< kernels before 6.5 do not say
  std::optional<TimerFile> timer;
  std::optional<SignalFile> signals;
  std::vector<PollItem> poll_items;  ///< without the files
  std::vector<FileLock> locks;
  bool lease = false;               ///< or a delegation
  std::uint64_t carried_files = 0;  ///< descriptors on their way through a Unix socket
};

/// Nothing when it says no offset or flags, or when what it says is not understood.
std::optional<FdInfo> parse_fd_info(std::string_view text);

}  // namespace perdure::process
