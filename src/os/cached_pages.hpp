#pragma once
// Asks the kernel how much of a file is in the page cache.
#include <cstdint>
#include <optional>

#include "os/file.hpp"

namespace perdure::os {

struct CachedBytes {
  std::uint64_t there = 0;      ///< whole pages in the cache
  std::uint64_t unwritten = 0;  ///< of these: not on the device yet
};

/// Asks about [offset, offset + bytes). Returns nothing if the system does not say: before Linux 6.5, for another
/// user's file that is not writable, and on overlays. An overlay reports its own file, not the one below it. Hooks see
/// the call as "cachestat".
std::optional<CachedBytes> cached_bytes(const File& file, std::uint64_t offset, std::uint64_t bytes);

}  // namespace perdure::os
