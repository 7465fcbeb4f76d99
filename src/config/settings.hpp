#pragma once
// "key = value" text, as the API, serialise() and the command line use it.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace perdure::config {

struct Setting {
  std::string key;
  std::string value;
};

/// Without the blanks at both ends.
std::string_view trimmed(std::string_view text);

/// The items of a list, which commas separate, without the blanks around them; an empty text has one empty item.
std::vector<std::string> split_list(std::string_view text);

/// Settings separated by newlines or semicolons; empty ones are skipped. A value may stand in double quotes, where \"
/// and
/// \\ are escapes and semicolons are plain characters.
base::Result<std::vector<Setting>> parse_settings(std::string_view text);

/// "key = value", quoted where parse_settings() needs it.
std::string format_setting(std::string_view key, std::string_view value);

}  // namespace perdure::config
