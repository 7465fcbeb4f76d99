#include "config/config.hpp"

#include "base/bytes.hpp"
#include "base/hash.hpp"
#include "config/nearest.hpp"
#include "config/settings.hpp"
#include "config/value.hpp"

namespace perdure::config {
namespace {

using base::fail;
using base::Status;

Status unknown_key(std::string_view key, const std::string& source) {
  std::vector<std::string_view> keys;
  for (const Option& option : options()) keys.emplace_back(option.key);
  return fail(PERDURE_INVALID_ARGUMENT, source.empty() ? "configuration" : source,
              "there is no option '" + std::string(key.substr(0, 200)) + "'; the nearest is '" +
                  std::string(nearest(key, keys)) + "'",
              "see docs/configuration.md");
}

// What an error is about: the place where the value stands, and the key unless the place says it already.
std::string described(std::string_view key, const Option& option, const std::string& source) {
  if (source.empty()) return "option " + std::string(key);
  return source == option.environment ? source : source + ": " + std::string(key);
}

std::string to_hex(std::uint64_t number) {
  std::string text(16, '0');
  for (std::size_t at = 16; at-- > 0; number >>= 4U) text[at] = "0123456789abcdef"[number & 15U];
  return text;
}

}  // namespace

const char* origin_name(Origin origin) {
  switch (origin) {
    case Origin::default_value:
      return "default";
    case Origin::program:
      return "program";
    case Origin::file:
      return "file";
    case Origin::environment:
      return "environment";
    case Origin::command_line:
      return "command line";
  }
  return "unknown";
}

Config::Config() {
  for (const Option& option : options()) values_[option.key] = Value{option.default_value, Origin::default_value, {}};
}

Status Config::set(std::string_view key, std::string_view value, Origin origin, std::string source) {
  const Option* option = find_option(key);
  if (option == nullptr) return unknown_key(key, source);
  PERDURE_CHECK(canonical_value(*option, value, described(key, *option, source)));
  Value& current = values_[option->key];
  if (origin >= current.origin) current = Value{std::string(value), origin, std::move(source)};
  return {};
}

Status Config::set_all(std::string_view settings, Origin origin, const std::string& source) {
  PERDURE_TRY(auto parsed, parse_settings(settings));
  for (const Setting& setting : parsed) PERDURE_CHECK(set(setting.key, setting.value, origin, source));
  return {};
}

std::string Config::text(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string() : found->second.text;
}

bool Config::boolean(std::string_view key) const { return parse_boolean(text(key)).value_or(false); }
std::int64_t Config::integer(std::string_view key) const { return parse_integer(text(key)).value_or(0); }
double Config::real(std::string_view key) const { return parse_real(text(key)).value_or(0); }
std::uint64_t Config::bytes(std::string_view key) const { return base::parse_bytes(text(key)).value_or(0); }

std::string Config::fingerprint() const {
  std::string lines;
  for (const Option& option : options()) {
    if (!option.engine) continue;
    const std::string value = text(option.key);
    lines += format_setting(option.key, canonical_value(option, value, option.key).value_or(value)) + "\n";
  }
  return to_hex(base::hash64(base::as_bytes(lines)));
}

std::string Config::serialise() const {
  std::string lines;
  for (const auto& [key, value] : values_) lines += format_setting(key, value.text) + "\n";
  return lines;
}

}  // namespace perdure::config
