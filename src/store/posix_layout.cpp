#include "store/posix_layout.hpp"

#include <charconv>
#include <limits>

namespace perdure::store {
namespace {

constexpr std::string_view kRetiredPrefix = ".retired-";

std::string mark_name(std::uint64_t version, const segment::Attempt& attempt) {
  return std::string(kRetiredPrefix) + std::to_string(version) + "-" + attempt.hex();
}

}  // namespace

std::optional<std::uint64_t> parse_version(std::string_view name) {
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  // Only the canonical spelling: otherwise two directories would be the same version.
  if (error != std::errc() || end != name.data() + name.size() || std::to_string(version) != name) return std::nullopt;
  if (version > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return version;
}

std::optional<RetiredMark> parse_retired_mark(std::string_view name) {
  if (!name.starts_with(kRetiredPrefix)) return std::nullopt;
  const std::string_view rest = name.substr(kRetiredPrefix.size());
  const std::size_t dash = rest.find('-');
  if (dash == std::string_view::npos || rest.size() != dash + 33) return std::nullopt;
  const auto version = parse_version(rest.substr(0, dash));
  if (!version) return std::nullopt;
  RetiredMark mark{*version, {}};
  const char* hex = rest.data() + dash + 1;
  std::from_chars(hex, hex + 16, mark.attempt.created_ns, 16);
  std::from_chars(hex + 16, hex + 32, mark.attempt.nonce, 16);
  if (mark_name(mark.version, mark.attempt) != name) return std::nullopt;
  return mark;
}

std::string PosixLayout::retired_mark(const segment::VersionId& id) const {
  return name_directory(id.name) + "/" + mark_name(id.version, id.attempt);
}

}  // namespace perdure::store
