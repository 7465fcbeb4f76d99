#pragma once
// Checks option values that CLI11 is lenient about: it takes -1 for a huge number and nan for any number.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace perdure::cli {

/// Checks for CLI::Option::check: returns an empty text, or the error.
inline std::string whole_number(const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? std::string() : "'" + text + "' is not a whole number from 0 on";
}

/// Checks after whole_number.
inline std::string positive(const std::string& text) {
  const bool zero = text.find_first_not_of('0') == std::string::npos;
  return zero ? "'" + text + "' is too few; it is a whole number from 1 on" : std::string();
}

/// Checks numbers; the conversion to an integer refuses fractions.
inline std::function<std::string(const std::string&)> within(double least, double most) {
  return [least, most](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && value >= least && value <= most) return std::string();
    char range[80];
    std::snprintf(range, sizeof range, "%.10g to %.10g", least, most);
    return "'" + text + "' is not a number from " + range;
  };
}

inline std::string seconds(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool good = !text.empty() && *end == '\0' && std::isfinite(value) && value >= 0 && value <= 1e9;
  return good ? std::string() : "'" + text + "' is not a time in seconds";
}

}  // namespace perdure::cli
