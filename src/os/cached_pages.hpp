#pragma once
// What the system's memory of files (the page cache) has of one.
#include <cstdint>
#include <optional>

#include "os/file.hpp"

namespace perdure::os {

struct CachedBytes {
  std::uint64_t there = 0;      ///< in whole pages
  std::uint64_t unwritten = 0;  ///< of them: not on the device yet
};

/// Of [offset, offset + bytes). Nothing where the system does not say: before Linux 6.5, of files that are somebody
/// else's and not writable, and on an overlay, which says of its own file what is true of the one below it. Hooks see
/// the call as "cachestat".
std::optional<CachedBytes> cached_bytes(const File& file, std::uint64_t offset, std::uint64_t bytes);

}  // namespace perdure::os
