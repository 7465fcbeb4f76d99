#include "store/object_keys.hpp"

#include "segment/manifest_codec.hpp"
#include "segment/segment.hpp"

namespace perdure::store {

std::string name_prefix(const std::string& name) { return name + "/"; }

std::string version_prefix(const segment::VersionId& id) {
  return name_prefix(id.name) + std::to_string(id.version) + "/";
}

std::string segment_key(const segment::VersionId& id, std::uint32_t index, std::uint32_t count) {
  return version_prefix(id) + segment::file_name(index, count, id.attempt);
}

std::string quarantine_key(const std::string& file) { return std::string(kQuarantine) + "/" + file; }

std::optional<NamedKey> parse_named_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  NamedKey named{std::string(key.substr(0, slash)), std::string(key.substr(slash + 1))};
  if (!segment::check_name(named.name)) return std::nullopt;
  return named;
}

std::optional<SegmentKey> parse_segment_key(std::string_view key) {
  const auto named = parse_named_key(key);
  if (!named) return std::nullopt;
  const std::string_view rest = named->rest;
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto version = parse_version(rest.substr(0, slash));
  const auto file = segment::parse_file_name(rest.substr(slash + 1));
  if (!version || !file) return std::nullopt;
  return SegmentKey{{named->name, *version, file->attempt}, file->index, file->count};
}

}  // namespace perdure::store
