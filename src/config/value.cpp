#include "config/value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/bytes.hpp"
#include "config/settings.hpp"

namespace perdure::config {
namespace {

using base::fail;
using base::Result;

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string format_number(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

std::string format_limit(const Option& option, double limit) {
  if (option.type != Type::bytes) return format_number(limit);
  return base::format_bytes(static_cast<std::uint64_t>(limit));
}

auto refusal(const Option& option, std::string_view value, const std::string& object, const std::string& cause) {
  return fail(PERDURE_INVALID_ARGUMENT, object, "'" + std::string(value.substr(0, 200)) + "' " + cause,
              "see " + std::string(option.key) + " in docs/configuration.md");
}

Result<std::string> in_range(const Option& option, double number, std::string text, std::string_view value,
                             const std::string& object) {
  if (number < option.minimum) {
    return refusal(option, value, object, "is below the smallest value, " + format_limit(option, option.minimum));
  }
  if (number > option.maximum) {
    return refusal(option, value, object, "is above the greatest value, " + format_limit(option, option.maximum));
  }
  return text;
}

Result<std::string> canonical_bytes(const Option& option, std::string_view value, const std::string& object) {
  const auto bytes = base::parse_bytes(value);
  if (!bytes) return refusal(option, value, object, "is not a size like 1000, 64k or 1.5GiB");
  if (*bytes % option.multiple_of != 0) {
    return refusal(option, value, object, "is not a multiple of " + std::to_string(option.multiple_of));
  }
  return in_range(option, static_cast<double>(*bytes), std::to_string(*bytes), value, object);
}

Result<std::string> canonical_integer(const Option& option, std::string_view value, const std::string& object) {
  const auto number = parse_integer(value);
  if (!number) return refusal(option, value, object, "is not a whole number");
  if (*number % static_cast<std::int64_t>(option.multiple_of) != 0) {
    return refusal(option, value, object, "is not a multiple of " + std::to_string(option.multiple_of));
  }
  return in_range(option, static_cast<double>(*number), std::to_string(*number), value, object);
}

Result<std::string> canonical_real(const Option& option, std::string_view value, const std::string& object) {
  const auto number = parse_real(value);
  if (!number) return refusal(option, value, object, "is not a number");
  // "-0" is in every range that begins with 0, and must have the same text as 0.
  return in_range(option, *number, format_number(*number == 0 ? 0.0 : *number), value, object);
}

Result<std::string> canonical_choice(const Option& option, std::string_view value, const std::string& object) {
  const std::string all = choices_of(option);
  std::string_view choices = all;
  while (!choices.empty()) {
    const auto bar = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, bar) == value) return std::string(value);
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return refusal(option, value, object, "is none of " + all);
}

Result<std::string> canonical_text(std::string_view value, const std::string& object) {
  // Control characters would break messages, logs and the "key = value" lines that go to perdured.
  const bool control =
      std::any_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
  if (control) return fail(PERDURE_INVALID_ARGUMENT, object, "the value contains a control character");
  if (value.size() > 4096) return fail(PERDURE_INVALID_ARGUMENT, object, "the value is longer than 4096 characters");
  return std::string(value);
}

// Equal lists get equal text, however they are written.
Result<std::string> canonical_list(std::string_view value, const std::string& object) {
  PERDURE_CHECK(canonical_text(value, object));
  std::string text;
  for (const std::string& item : split_list(value)) text += (text.empty() ? "" : ",") + item;
  return text;
}

Result<std::string> typed(const Option& option, std::string_view value, const std::string& object) {
  switch (option.type) {
    case Type::text:
      return canonical_text(value, object);
    case Type::list:
      return canonical_list(value, object);
    case Type::choice:
      return canonical_choice(option, value, object);
    case Type::bytes:
      return canonical_bytes(option, value, object);
    case Type::integer:
      return canonical_integer(option, value, object);
    case Type::real:
      return canonical_real(option, value, object);
    case Type::boolean:
      break;
  }
  const auto truth = parse_boolean(value);
  if (!truth) return refusal(option, value, object, "is neither true nor false");
  return std::string(*truth ? "true" : "false");
}

}  // namespace

std::string choices_of(const Option& option) {
  return option.registered == nullptr ? option.choices : option.registered();
}

std::optional<bool> parse_boolean(std::string_view text) {
  for (const std::string_view word : {"true", "yes", "on", "1"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"false", "no", "off", "0"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) { return parse_number<std::int64_t>(text); }

std::optional<double> parse_real(std::string_view text) {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

Result<std::string> canonical_value(const Option& option, std::string_view value, const std::string& object) {
  PERDURE_TRY(auto canonical, typed(option, value, object));
  const char* reason = option.refuse == nullptr ? nullptr : option.refuse(value);
  if (reason != nullptr) return refusal(option, value, object, reason);
  return canonical;
}

}  // namespace perdure::config
