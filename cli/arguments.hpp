#pragma once
// Checks of option values that CLI11 is lenient about: it takes -1 for a huge number and nan for any number.
#include <cmath>
#include <cstdlib>
#include <string>

namespace perdure::cli {

/// For CLI::Option::check: an empty text, or what is wrong.
inline std::string whole_number(const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? std::string() : "'" + text + "' is not a whole number from 0 on";
}

inline std::string seconds(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool good = !text.empty() && *end == '\0' && std::isfinite(value) && value >= 0 && value <= 1e9;
  return good ? std::string() : "'" + text + "' is not a time in seconds";
}

}  // namespace perdure::cli
