#include "config/settings.hpp"

#include <algorithm>

namespace perdure::config {
namespace {

base::Result<std::string> unquoted(std::string_view text) {
  std::string value;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      if (at + 1 != text.size()) break;
      return value;
    }
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    value += text[at];
  }
  return base::fail(PERDURE_INVALID_ARGUMENT, std::string(text), "the value has no closing quote at its end");
}

// Returns the end of the first setting in `text`: a newline, or a semicolon outside of a quoted value.
std::size_t end_of_setting(std::string_view text) {
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::size_t plain = std::min(text.find(';'), line);
  const std::size_t equals = text.find('=');
  if (equals >= plain) return plain;
  std::size_t at = text.find_first_not_of(" \t", equals + 1);
  if (at >= plain || text[at] != '"') return plain;
  for (++at; at < line && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at >= line ? line : std::min(text.find(';', at), line);
}

base::Result<Setting> parse_setting(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    return base::fail(PERDURE_INVALID_ARGUMENT, std::string(text), "is not of the form key=value");
  }
  Setting setting{std::string(trimmed(text.substr(0, equals))), {}};
  const std::string_view value = trimmed(text.substr(equals + 1));
  if (!value.starts_with('"')) {
    setting.value = value;
    return setting;
  }
  PERDURE_TRY(setting.value, unquoted(value));
  return setting;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  for (;;) {
    const auto comma = text.find(',');
    items.emplace_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

base::Result<std::vector<Setting>> parse_settings(std::string_view text) {
  std::vector<Setting> settings;
  while (!text.empty()) {
    const std::size_t end = end_of_setting(text);
    const std::string_view part = trimmed(text.substr(0, end));
    if (!part.empty()) {
      PERDURE_TRY(auto setting, parse_setting(part));
      settings.push_back(std::move(setting));
    }
    text.remove_prefix(end == text.size() ? end : end + 1);
  }
  return settings;
}

std::string format_setting(std::string_view key, std::string_view value) {
  std::string text = std::string(key) + " = ";
  if (value == trimmed(value) && value.find_first_of(";\"") == std::string_view::npos) return text.append(value);
  text += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text += '"';
}

}  // namespace perdure::config
