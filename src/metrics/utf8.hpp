#pragma once
// Makes valid UTF-8 of any bytes.
#include <string>
#include <string_view>

namespace perdure::metrics {

/// Returns `text` with U+FFFD in place of every byte that is no part of a valid sequence (RFC 3629).
std::string valid_utf8(std::string_view text);

}  // namespace perdure::metrics
