#pragma once
// Configuration files: TOML, whose tables map to dotted keys.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/settings.hpp"

namespace perdure::config {

/// The largest configuration file that is read.
inline constexpr std::size_t kMaxFileBytes = 65536;

/// "[tier.memory] max_bytes = '1GiB'" -> tier.memory.max_bytes. An array of texts becomes a list with commas. Errors
/// name `path` and, where the text is no TOML, line and column. Takes any input.
base::Result<std::vector<Setting>> parse_toml(std::string_view text, const std::string& path);

}  // namespace perdure::config
