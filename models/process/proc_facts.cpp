#include "process/proc_facts.hpp"

#include <algorithm>

#include "process/fields_of_text.hpp"
#include "process/memory_maps.hpp"

namespace perdure::process {

StatNumbers::StatNumbers(std::string_view text) {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return;
  text = text.substr(name_end + 1);
  for (const auto word : words_of(text.substr(0, text.find('\n')))) {
    std::uint64_t value = 0;
    std::int64_t below = 0;
    if (!number_of(word, value) && number_of(word, below)) value = static_cast<std::uint64_t>(below);
    values_.push_back(value);  // 0 for the letter of the state
  }
}

MemoryLayout layout_of(const StatNumbers& stat) {
  MemoryLayout layout;
  layout.start_code = stat.value(26);
  layout.end_code = stat.value(27);
  layout.start_stack = stat.value(28);
  layout.start_data = stat.value(45);
  layout.end_data = stat.value(46);
  layout.start_brk = stat.value(47);
  layout.arg_start = stat.value(48);
  layout.arg_end = stat.value(49);
  layout.env_start = stat.value(50);
  layout.env_end = stat.value(51);
  return layout;
}

std::uint64_t first_number(std::string_view text, std::string_view key, int base) {
  const auto value = value_of(text, key);
  const auto words = value ? words_of(*value) : std::vector<std::string_view>();
  std::uint64_t number = 0;
  if (!words.empty()) (void)number_of(words[0], number, base);
  return number;
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
      for (const auto flag : words_of(line.substr(kKey.size()))) all[begin].emplace_back(flag);
    } else if (const auto map = parse_map(line)) {
      begin = map->begin;
    }
    return true;
  });
  return all;
}

std::map<std::uint64_t, std::string> parse_policies(std::string_view text) {
  std::map<std::uint64_t, std::string> all;
  each_line(text, [&](std::string_view line) {
    const auto words = words_of(line);
    std::uint64_t begin = 0;
    if (words.size() < 2 || !number_of(words[0], begin, 16)) return true;
    std::string policy(words[1]);  // "prefer (many):0" and "weighted interleave:0" have two words
    const bool two_words = words.size() > 2 && ((policy == "prefer" && words[2].starts_with("(many)")) ||
                                                (policy == "weighted" && words[2].starts_with("interleave")));
    all[begin] = two_words ? policy + " " + std::string(words[2]) : policy;
    return true;
  });
  return all;
}

SoleNodes parse_sole_nodes(std::string_view text) {
  SoleNodes all;
  each_line(text, [&](std::string_view line) {
    const auto words = words_of(line);
    std::uint64_t begin = 0;
    if (words.empty() || !number_of(words[0], begin, 16)) return true;
    std::size_t nodes = 0;
    std::uint32_t last = 0;
    for (const auto word : words) {  // "N1=12"
      const auto equal = word.find('=');
      if (word.front() == 'N' && equal != std::string_view::npos && number_of(word.substr(1, equal - 1), last)) ++nodes;
    }
    all[begin] = nodes == 1 ? std::optional(last) : std::nullopt;
    return true;
  });
  return all;
}

}  // namespace perdure::process
