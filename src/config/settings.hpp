#pragma once
// Parses and formats "key = value" text of the API, serialise() and the command line.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace perdure::config {

struct Setting {
  std::string key;
  std::string value;
};

/// Removes the blanks at both ends.
std::string_view trimmed(std::string_view text);

/// Splits a list at commas, and removes the blanks around its items. An empty text has one empty item.
std::vector<std::string> split_list(std::string_view text);

/// Parses settings separated by newlines or semicolons, and skips empty ones. A value may stand in double quotes. There
/// \" and \\ are escapes, and semicolons are plain characters.
base::Result<std::vector<Setting>> parse_settings(std::string_view text);

/// Formats "key = value", quoted if parse_settings() needs it.
std::string format_setting(std::string_view key, std::string_view value);

}  // namespace perdure::config
