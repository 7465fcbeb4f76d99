// The only translation unit that sees toml++.
#include "config/toml.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

// toml++ asserts (and with NDEBUG lets the compiler assume) what a file can break: "[=" is enough. The checks behind
// its assertions report these as errors, so both are switched off for it. With exceptions its parser ends at the first
// error; without, it goes on with what it has, such as no character at all after broken UTF-8, and assumes it is one.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace perdure::config {
namespace {

using base::fail;
using base::Result;
using base::Status;

constexpr std::ptrdiff_t kMaxDotsPerLine = 64;

// toml++ bounds nested values but not dotted keys, and frees what it read by recursion: a long enough key would exhaust
// the stack.
Status check_depth(std::string_view text, const std::string& path) {
  std::size_t number = 1;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.starts_with('#') && std::count(line.begin(), line.end(), '.') > kMaxDotsPerLine) {
      return fail(PERDURE_INVALID_ARGUMENT, path, "line " + std::to_string(number) + " has more than 64 dots");
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
  }
  return {};
}

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* truth = node.as_boolean()) return std::string(truth->get() ? "true" : "false");
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(17);
    out << number->get();
    return out.str();
  }
  return std::nullopt;
}

std::optional<std::string> list_text(const toml::array& array) {
  std::string list;
  for (const toml::node& node : array) {
    const auto item = scalar_text(node);
    if (!item) return std::nullopt;
    if (!list.empty()) list += ',';
    list += *item;
  }
  return list;
}

Status flatten(const toml::table& table, const std::string& prefix, const std::string& path,
               std::vector<Setting>& settings) {
  for (const auto& [name, node] : table) {
    std::string key = prefix + std::string(name.str());
    if (const auto* inner = node.as_table()) {
      PERDURE_CHECK(flatten(*inner, key + ".", path, settings));
      continue;
    }
    auto value = node.is_array() ? list_text(*node.as_array()) : scalar_text(node);
    if (!value)
      return fail(PERDURE_INVALID_ARGUMENT, path + ": " + key.substr(0, 200), "holds no text, number or truth value");
    settings.push_back({std::move(key), std::move(*value)});
  }
  return {};
}

}  // namespace

Result<std::vector<Setting>> parse_toml(std::string_view text, const std::string& path) {
  if (text.size() > kMaxFileBytes) return fail(PERDURE_INVALID_ARGUMENT, path, "is larger than 64 KiB");
  PERDURE_CHECK(check_depth(text, path));
  try {
    const toml::table table = toml::parse(text);
    std::vector<Setting> settings;
    PERDURE_CHECK(flatten(table, "", path, settings));
    return settings;
  } catch (const toml::parse_error& error) {
    const toml::source_position where = error.source().begin;
    return fail(PERDURE_INVALID_ARGUMENT,
                path + " line " + std::to_string(where.line) + " column " + std::to_string(where.column),
                std::string(error.description()));
  }
}

}  // namespace perdure::config
