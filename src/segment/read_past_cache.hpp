#pragma once
// Decides whether a part of a file is read past the page cache, or through it.
#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "os/cached_pages.hpp"

namespace perdure::segment {

/// Shorter reads are too short to make up for the cost of starting.
inline constexpr std::uint64_t kLeastPastCache = 4 * base::MiB;

/// Whether `bytes` bytes of a file are read past the cache that has `cached` of them; nothing: the system does not say.
/// Cached bytes come from memory three times as fast as from a quick disk. Cached bytes that are not on the device
/// would have to be written first.
constexpr bool is_read_past_cache(std::uint64_t bytes, const std::optional<os::CachedBytes>& cached) {
  constexpr std::uint64_t kWorthIt = 5;  // a cached fifth saves as much as reading past the cache would
  return bytes >= kLeastPastCache && cached && cached->unwritten == 0 && cached->there < bytes / kWorthIt;
}

}  // namespace perdure::segment
