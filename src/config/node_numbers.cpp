#include "config/node_numbers.hpp"

#include <charconv>
#include <set>

#include "config/settings.hpp"

namespace perdure::config {

NodeNumbers parse_node_numbers(std::string_view text) {
  constexpr std::size_t kMostDigits = 9;  // fits into 32 bits
  NodeNumbers parsed;
  if (trimmed(text).empty()) return parsed;
  std::set<std::uint32_t> seen;
  while (true) {
    const auto comma = text.find(',');
    const std::string_view word = trimmed(text.substr(0, comma));
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || word.size() > kMostDigits)
      return {{}, "must be whole numbers from 0 to 999999999, separated by single commas"};
    if (!seen.insert(number).second) return {{}, "has a number twice"};
    parsed.numbers.push_back(number);
    if (comma == std::string_view::npos) return parsed;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace perdure::config
