#pragma once
// Parses configuration files: TOML, whose tables map to dotted keys.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/settings.hpp"

namespace perdure::config {

/// Larger configuration files are refused.
inline constexpr std::size_t kMaxFileBytes = 65536;

/// Parses "[tier.memory] max_bytes = '1GiB'" into tier.memory.max_bytes. An array of texts becomes a list with commas.
/// Errors name `path` and, for malformed TOML, line and column. It takes any input.
base::Result<std::vector<Setting>> parse_toml(std::string_view text, const std::string& path);

}  // namespace perdure::config
