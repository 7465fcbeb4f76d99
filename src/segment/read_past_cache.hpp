#pragma once
// When a part of a file is read past the memory that the system keeps of files, and not through it.
#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "os/cached_pages.hpp"

namespace perdure::segment {

/// Of less, what is read at once is too little to make up for what it costs to begin.
inline constexpr std::uint64_t kLeastPastCache = 4 * base::MiB;

/// Whether `bytes` bytes of a file are read past the cache that has `cached` of them; nothing: the system does not say.
/// What is there comes from memory three times as fast as from a quick disk; what is there and not on the device would
/// have to be written first.
constexpr bool is_read_past_cache(std::uint64_t bytes, const std::optional<os::CachedBytes>& cached) {
  constexpr std::uint64_t kWorthIt = 5;  // a fifth that is there saves as much as reading past it would
  return bytes >= kLeastPastCache && cached && cached->unwritten == 0 && cached->there < bytes / kWorthIt;
}

}  // namespace perdure::segment
