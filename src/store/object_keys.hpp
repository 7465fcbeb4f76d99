#pragma once
// Names the objects of a store of versions; the parts of a key are those of a posix store's paths (posix_layout.hpp).
// Pure. Inside this module only.
#include <optional>
#include <string>

#include "store/posix_layout.hpp"

namespace perdure::store {

/// "<name>/", which all keys of a checkpoint begin with.
std::string name_prefix(const std::string& name);
/// "<name>/<version>/"
std::string version_prefix(const segment::VersionId& id);
/// "<name>/<version>/<file name of the segment>"
std::string segment_key(const segment::VersionId& id, std::uint32_t index, std::uint32_t count);
std::string quarantine_key(const std::string& file);

/// A key of a segment, as its parts; nothing for any other key.
struct SegmentKey {
  segment::VersionId id;
  std::uint32_t index = 0, count = 0;
};
std::optional<SegmentKey> parse_segment_key(std::string_view key);

/// A key below a checkpoint's name as the name and the rest. Nothing where it begins with no name of a checkpoint.
struct NamedKey {
  std::string name, rest;
};
std::optional<NamedKey> parse_named_key(std::string_view key);

}  // namespace perdure::store
