#include "segment/manifest.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace perdure::segment {

const Attributes::Map& Attributes::map() const {
  static const Map none;
  return map_ ? *map_ : none;
}

AttributeValue& Attributes::operator[](const std::string& key) {
  if (!map_) map_ = std::make_unique<Map>();
  return (*map_)[key];
}

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
    case EntryKind::array:
      return "array";
  }
  return "unknown";
}

std::vector<std::uint32_t> Manifest::ranks_here() const {
  std::vector<std::uint32_t> here;
  if (tables.empty())
    for (const Piece& piece : pieces) here.push_back(piece.rank);
  for (const Table& table : tables) here.push_back(table.rank);
  return here;
}

std::uint64_t Piece::capture_bytes() const {
  std::uint64_t total = 0;
  for (const RegionEntry& region : regions) total += region.bytes();
  return total;
}

}  // namespace perdure::segment
