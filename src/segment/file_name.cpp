#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "segment/segment.hpp"

namespace perdure::segment {
namespace {

/// Takes digits of `base` from the front of `text`; false if there are none or they do not fit.
template <class T>
bool take_number(std::string_view& text, T& value, int base, std::size_t digits) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + std::min(digits, text.size()), value, base);
  if (error != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_text(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

}  // namespace

std::string file_name(std::uint32_t index, std::uint32_t count, const Attempt& attempt) {
  std::array<char, 32> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "%04u-of-%04u.", index, count);
  return numbers.data() + attempt.hex() + ".pds";
}

std::optional<FileName> parse_file_name(std::string_view name) {
  FileName parsed;
  std::string_view rest = name;
  const bool good = take_number(rest, parsed.index, 10, 10) && take_text(rest, "-of-") &&
                    take_number(rest, parsed.count, 10, 10) && take_text(rest, ".") &&
                    take_number(rest, parsed.attempt.created_ns, 16, 16) &&
                    take_number(rest, parsed.attempt.nonce, 16, 16) && take_text(rest, ".pds") && rest.empty();
  // Accepts the canonical spelling only: otherwise two names would mean the same segment.
  if (!good || parsed.index >= parsed.count || file_name(parsed.index, parsed.count, parsed.attempt) != name)
    return std::nullopt;
  return parsed;
}

}  // namespace perdure::segment
