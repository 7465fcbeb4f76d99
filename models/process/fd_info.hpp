#pragma once
// Parses /proc/PID/fdinfo/N. Pure.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "process/descriptors.hpp"

namespace perdure::process {

struct FdInfo {
  std::uint64_t offset = 0;
  std::uint32_t flags = 0;  ///< O_*, with O_CLOEXEC if the descriptor has it
  std::optional<EventCount> event;
  bool semaphore_known = false;  ///< kernels before 6.5 do not report it
  std::optional<TimerFile> timer;
  std::optional<SignalFile> signals;
  std::vector<PollItem> poll_items;  ///< the files of the items are not filled in
  std::vector<FileLock> locks;
  bool lease = false;               ///< or a delegation
  std::uint64_t carried_files = 0;  ///< number of descriptors in transit through a Unix socket
};

/// Returns nothing if offset or flags are missing, or if the text is malformed.
std::optional<FdInfo> parse_fd_info(std::string_view text);

}  // namespace perdure::process
