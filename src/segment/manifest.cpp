#include "segment/manifest.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace perdure::segment {

std::string Attempt::hex() const {
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64 "%016" PRIx64, created_ns, nonce);
  return text.data();
}

std::string VersionId::text() const { return name + " version " + std::to_string(version); }

const char* kind_name(EntryKind kind) {
  switch (kind) {
    case EntryKind::memory:
      return "memory";
    case EntryKind::opaque:
      return "opaque";
  }
  return "unknown";
}

std::uint64_t Piece::capture_bytes() const {
  std::uint64_t total = 0;
  for (const RegionEntry& region : regions) total += region.bytes();
  return total;
}

}  // namespace perdure::segment
