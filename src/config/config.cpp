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

// Returns the object of an error: the place of the value, and the key unless the place names it.
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

std::span<const Option> options() { return kOptions; }

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

const Value& Config::value(AnyKey key) const { return value_of(key.option()); }
const Value& Config::value_of(const Option& option) const { return values_.find(option.key)->second; }

std::map<std::string, std::string> Config::below(std::string_view prefix) const {
  std::map<std::string, std::string> found;
  for (const auto& [key, value] : values_)
    if (key.starts_with(prefix)) found.emplace(key.substr(prefix.size()), value.text);
  return found;
}

std::string Config::text(Key<Type::text, Type::choice> key) const { return value_of(key.option()).text; }
std::vector<std::string> Config::list(Key<Type::list> key) const {
  auto items = split_list(value_of(key.option()).text);
  std::erase(items, "");
  return items;
}
bool Config::boolean(Key<Type::boolean> key) const {
  return parse_boolean(value_of(key.option()).text).value_or(false);
}
std::int64_t Config::integer(Key<Type::integer> key) const {
  return parse_integer(value_of(key.option()).text).value_or(0);
}
double Config::real(Key<Type::real> key) const { return parse_real(value_of(key.option()).text).value_or(0); }
std::uint64_t Config::bytes(Key<Type::bytes> key) const {
  return base::parse_bytes(value_of(key.option()).text).value_or(0);
}

std::string Config::fingerprint() const {
  std::string lines;
  for (const Option& option : options()) {
    if (!option.engine) continue;
    const std::string& value = value_of(option).text;
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
