#pragma once
// Checks the text of one option's value, and returns its canonical form.
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "config/config.hpp"

namespace perdure::config {

std::optional<bool> parse_boolean(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_real(std::string_view text);  ///< finite

/// Checks type, range and refusals of `option`. Returns the canonical form, in which equal values have equal text
/// ("64MiB" and "67108864" both give the latter). Errors are about `object`.
base::Result<std::string> canonical_value(const Option& option, std::string_view value, const std::string& object);

}  // namespace perdure::config
