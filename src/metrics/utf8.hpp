#pragma once
// Text as UTF-8, whatever bytes it came with.
#include <string>
#include <string_view>

namespace perdure::metrics {

/// `text`, with U+FFFD in place of every byte that is no part of a valid sequence (RFC 3629).
std::string valid_utf8(std::string_view text);

}  // namespace perdure::metrics
