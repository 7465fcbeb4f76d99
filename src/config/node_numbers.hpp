#pragma once
// Parses the value of node.numbers.
#include <cstdint>
#include <string_view>
#include <vector>

namespace perdure::config {

struct NodeNumbers {
  std::vector<std::uint32_t> numbers;  ///< distinct, as given; may be empty
  const char* refusal = nullptr;       ///< the reason why the text is refused
};

/// Parses whole numbers from 0 to 999999999, separated by commas.
NodeNumbers parse_node_numbers(std::string_view text);

}  // namespace perdure::config
