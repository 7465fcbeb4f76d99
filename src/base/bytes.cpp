#include "base/bytes.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace perdure::base {
namespace {

struct Unit {
  std::string_view name;  ///< lower case
  std::uint64_t bytes;
};

constexpr std::uint64_t kKilo = 1000;
constexpr std::array kUnits = {
    Unit{"", 1},
    Unit{"b", 1},
    Unit{"k", KiB},
    Unit{"kib", KiB},
    Unit{"kb", kKilo},
    Unit{"m", MiB},
    Unit{"mib", MiB},
    Unit{"mb", kKilo* kKilo},
    Unit{"g", GiB},
    Unit{"gib", GiB},
    Unit{"gb", kKilo* kKilo* kKilo},
    Unit{"t", 1024 * GiB},
    Unit{"tib", 1024 * GiB},
    Unit{"tb", kKilo* kKilo* kKilo* kKilo},
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

const Unit* find_unit(std::string_view name) {
  std::string lower;
  for (char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Unit& unit : kUnits)
    if (unit.name == lower) return &unit;
  return nullptr;
}

tl::unexpected<Error> not_a_size(std::string_view text, const char* cause) {
  return fail(PERDURE_INVALID_ARGUMENT, "'" + std::string(text) + "'", cause,
              "write a number and a unit, such as 64MiB, 1.5 GiB or 1000");
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const std::string_view all = trimmed(text);
  const std::size_t digits = std::min(all.find_first_not_of("0123456789."), all.size());
  const std::string_view number = all.substr(0, digits);
  const Unit* unit = find_unit(trimmed(all.substr(digits)));
  if (number.empty() || unit == nullptr) return not_a_size(text, "is not a number of bytes");
  const char* end = number.data() + number.size();
  if (number.find('.') == std::string_view::npos) {
    std::uint64_t value = 0;
    auto [stop, error] = std::from_chars(number.data(), end, value);
    if (error != std::errc() || stop != end || value > UINT64_MAX / unit->bytes)
      return not_a_size(text, "is too large");
    return value * unit->bytes;
  }
  double value = 0;
  auto [stop, error] = std::from_chars(number.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || stop != end) return not_a_size(text, "is not a number of bytes");
  const double bytes = std::round(value * static_cast<double>(unit->bytes));
  if (bytes >= 18446744073709551616.0) return not_a_size(text, "is too large");
  return static_cast<std::uint64_t>(bytes);
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < KiB) return std::to_string(bytes) + " B";
  static constexpr std::array<const char*, 6> kNames = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / static_cast<double>(KiB);
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < kNames.size(); ++unit) value /= static_cast<double>(KiB);
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.1f %s", value, kNames[unit]);
  return buffer.data();
}

}  // namespace perdure::base
