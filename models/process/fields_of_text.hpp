#pragma once
// Parses lines "key: value" of files in /proc. Pure.
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure::process {

/// Calls `use(line)` for each line, without its newline, until it returns false. Returns whether all lines were used.
template <class Use>
bool each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (!use(text.substr(0, end))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Splits at blanks and tabs.
inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = trimmed(text)).empty()) {
    const auto end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

/// Returns whether all of `text` is a number, and sets `value`.
template <class Number>
bool number_of(std::string_view text, Number& value, int base = 10) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// Returns the value of the line "key:", or nothing if there is no such line.
inline std::optional<std::string_view> value_of(std::string_view text, std::string_view key) {
  std::optional<std::string_view> found;
  each_line(text, [&](std::string_view line) {
    if (!line.starts_with(key) || line.size() == key.size() || line[key.size()] != ':') return true;
    found = trimmed(line.substr(key.size() + 1));
    return false;
  });
  return found;
}

}  // namespace perdure::process
