#include "store/posix_layout.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

namespace perdure::store {
namespace {

constexpr std::string_view kRetiredPrefix = ".retired-";
constexpr std::string_view kForgottenPrefix = ".forgotten-";
constexpr std::string_view kBorrowedPrefix = ".borrowed-";

std::string mark_name(std::uint64_t version, const segment::Attempt& attempt) {
  return std::string(kRetiredPrefix) + std::to_string(version) + "-" + attempt.hex();
}

constexpr std::size_t kWriterDigits = 16;

}  // namespace

std::string temporary_name(std::uint32_t writer, std::uint32_t random, const std::string& file) {
  std::array<char, kWriterDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%08lx%08lx", static_cast<unsigned long>(writer),
                static_cast<unsigned long>(random));
  return std::string(kTemporaryPrefix) + digits.data() + "-" + file;
}

std::optional<segment::FileName> parse_temporary(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix)) return std::nullopt;
  name.remove_prefix(kTemporaryPrefix.size());
  if (auto old = segment::parse_file_name(name)) return old;
  const bool written = name.size() > kWriterDigits && name[kWriterDigits] == '-' &&
                       name.substr(0, kWriterDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return written ? segment::parse_file_name(name.substr(kWriterDigits + 1)) : std::nullopt;
}

bool is_temporary_of(std::uint32_t writer, std::string_view name) {
  if (!parse_temporary(name)) return false;
  name.remove_prefix(kTemporaryPrefix.size());
  if (segment::parse_file_name(name)) return true;
  std::uint32_t known = 0;
  std::from_chars(name.data(), name.data() + kWriterDigits / 2, known, 16);
  return known == writer;
}

std::optional<std::uint64_t> parse_version(std::string_view name) {
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  // Takes only the canonical spelling: otherwise two directories would be the same version.
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

std::string borrowed_name(const segment::Attempt& borrower, const segment::Borrowed& segment) {
  return std::string(kBorrowedPrefix) + borrower.hex() + "-" + segment.text();
}

std::optional<BorrowedName> parse_borrowed(std::string_view name) {
  constexpr std::size_t kHexDigits = 32;
  if (!name.starts_with(kBorrowedPrefix)) return std::nullopt;
  const std::string_view rest = name.substr(kBorrowedPrefix.size());
  if (rest.size() <= kHexDigits) return std::nullopt;
  const auto segment = segment::parse_borrowed_segment(rest.substr(kHexDigits + 1));
  if (!segment) return std::nullopt;
  BorrowedName parsed{{}, *segment};
  std::from_chars(rest.data(), rest.data() + kHexDigits / 2, parsed.borrower.created_ns, 16);
  std::from_chars(rest.data() + kHexDigits / 2, rest.data() + kHexDigits, parsed.borrower.nonce, 16);
  if (borrowed_name(parsed.borrower, *segment) != name) return std::nullopt;
  return parsed;
}

std::string forgotten_mark(std::uint64_t until_ns) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(until_ns));
  return std::string(kForgottenPrefix) + digits.data();
}

std::optional<std::uint64_t> parse_forgotten_mark(std::string_view name) {
  if (!name.starts_with(kForgottenPrefix)) return std::nullopt;
  std::uint64_t until_ns = 0;
  const std::string_view digits = name.substr(kForgottenPrefix.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), until_ns, 16);
  if (forgotten_mark(until_ns) != name) return std::nullopt;
  return until_ns;
}

std::string retired_mark(const segment::VersionId& id) { return mark_name(id.version, id.attempt); }

std::string quarantine_of(std::uint32_t user) { return std::string(kQuarantine) + "-" + std::to_string(user); }

bool is_quarantine(std::string_view name) {
  if (!name.starts_with(kQuarantine)) return false;
  name.remove_prefix(kQuarantine.size());
  return name.empty() || (name.front() == '-' && parse_version(name.substr(1)));
}

}  // namespace perdure::store
