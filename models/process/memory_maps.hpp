#pragma once
// What /proc/PID/maps says. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace perdure::process {

/// What the file is called that is behind memory that processes share without one, once they were brought back.
inline constexpr const char* kSharedMemory = "perdure-shared";

/// Memory that processes share without a file shows by this name; or, once they were brought back, as one of ours.
bool is_shared_without_file(std::string_view name);

/// What names of memory begin with that a program gave it (PR_SET_VMA_ANON_NAME), behind which comes "NAME]".
inline constexpr std::string_view kNamedMemory = "[anon:", kNamedSharedMemory = "[anon_shmem:";

/// Addresses [begin, end) of a process, and what is there.
struct MemoryMap {
  std::uint64_t begin = 0, end = 0;
  bool readable = false, writable = false, executable = false, shared = false;
  std::uint64_t offset = 0;  ///< in the file
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;  ///< 0: no file's
  std::string name;         ///< a path, or "[heap]" and the like; as in the file but for escaped newlines
  std::uint64_t bytes() const { return end - begin; }
  bool is_file() const { return inode != 0; }
  friend bool operator==(const MemoryMap&, const MemoryMap&) = default;
};

/// A file that is mapped: its device and inode.
using MappedFile = std::pair<std::uint64_t, std::uint64_t>;
inline MappedFile mapped_file(const MemoryMap& map) {
  return {std::uint64_t{map.device_major} << 32 | map.device_minor, map.inode};
}

/// One line of the file, without its end; nothing when it is none. What Linux writes: addresses, permissions, offset,
/// device, inode, name, where newlines of a name are "\\012".
std::optional<MemoryMap> parse_map(std::string_view line);
/// All of it, ascending: PERDURE_INTERNAL with the line that is not understood, or out of order.
base::Result<std::vector<MemoryMap>> parse_maps(std::string_view text, const std::string& object);

}  // namespace perdure::process
