#pragma once
// Parses /proc/PID/maps. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace perdure::process {

/// The name of our file behind memory that resumed processes share without a file.
inline constexpr const char* kSharedMemory = "perdure-shared";

/// Returns whether it is the kernel's name for anonymous shared memory, or kSharedMemory of a resumed process.
bool is_shared_without_file(std::string_view name);

/// Prefixes of names that a program gave its memory (PR_SET_VMA_ANON_NAME). "NAME]" follows.
inline constexpr std::string_view kNamedMemory = "[anon:", kNamedSharedMemory = "[anon_shmem:";

/// A mapping at addresses [begin, end).
struct MemoryMap {
  std::uint64_t begin = 0, end = 0;
  bool readable = false, writable = false, executable = false, shared = false;
  std::uint64_t offset = 0;  ///< in the file
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;  ///< 0: anonymous
  std::string name;         ///< a path, or "[heap]" and the like; newlines are escaped
  std::uint64_t bytes() const { return end - begin; }
  bool is_file() const { return inode != 0; }
  friend bool operator==(const MemoryMap&, const MemoryMap&) = default;
};

/// Device and inode of a mapped file.
using MappedFile = std::pair<std::uint64_t, std::uint64_t>;
inline MappedFile mapped_file(const MemoryMap& map) {
  return {std::uint64_t{map.device_major} << 32 | map.device_minor, map.inode};
}

/// Parses a line without its newline: addresses, permissions, offset, device, inode, name. Newlines of a name are
/// "\\012". Returns nothing if it is malformed.
std::optional<MemoryMap> parse_map(std::string_view line);
/// Parses the whole file, ascending. PERDURE_INTERNAL: a line is malformed or out of order; the error quotes it.
base::Result<std::vector<MemoryMap>> parse_maps(std::string_view text, const std::string& object);

}  // namespace perdure::process
