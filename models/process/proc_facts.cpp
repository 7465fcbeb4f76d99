#include "process/proc_facts.hpp"

#include <algorithm>
#include <charconv>

namespace perdure::process {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Calls `take` with each line, without its end.
template <class Take>
void each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// And each word of a line.
template <class Take>
void each_word(std::string_view text, Take take) {
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const auto end = std::min(text.find_first_of(" \t\n"), text.size());
    take(text.substr(0, end));
    text.remove_prefix(end);
  }
}

}  // namespace

StatNumbers::StatNumbers(std::string_view text) {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return;
  each_word(text.substr(name_end + 1), [&](std::string_view word) {
    std::int64_t value = 0;
    std::uint64_t large = 0;
    const char* end = word.data() + word.size();
    if (std::from_chars(word.data(), end, large).ec == std::errc()) {
      values_.push_back(large);
    } else {
      (void)std::from_chars(word.data(), end, value);  // below 0, or the letter of the state: 0
      values_.push_back(static_cast<std::uint64_t>(value));
    }
  });
}

std::string line_of(std::string_view text, std::string_view key) {
  std::string found;
  each_line(text, [&](std::string_view line) {
    if (found.empty() && line.size() > key.size() && line.starts_with(key) && line[key.size()] == ':')
      found = trimmed(line.substr(key.size() + 1));
  });
  return found;
}

std::uint64_t number_of(std::string_view text, std::string_view key, int base) {
  const std::string line = line_of(text, key);
  std::uint64_t value = 0;
  (void)std::from_chars(line.data(), line.data() + line.size(), value, base);
  return value;
}

std::vector<std::string> split_at_zeros(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const auto end = std::min(text.find('\0'), text.size());
    all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::map<std::uint64_t, std::vector<std::string>> parse_smaps_flags(std::string_view text) {
  std::map<std::uint64_t, std::vector<std::string>> all;
  std::uint64_t begin = 0;
  each_line(text, [&](std::string_view line) {
    constexpr std::string_view kKey = "VmFlags:";
    if (line.starts_with(kKey)) {
      each_word(line.substr(kKey.size()), [&](std::string_view flag) { all[begin].emplace_back(flag); });
    } else if (const auto map = parse_map(line)) {
      begin = map->begin;
    }
  });
  return all;
}

std::map<std::uint64_t, std::string> parse_policies(std::string_view text) {
  std::map<std::uint64_t, std::string> all;
  each_line(text, [&](std::string_view line) {
    std::uint64_t begin = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), begin, 16);
    if (read.ec != std::errc()) return;
    line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
    line = trimmed(line);
    all[begin] = line.substr(0, line.find_first_of(" \t"));
  });
  return all;
}

}  // namespace perdure::process
