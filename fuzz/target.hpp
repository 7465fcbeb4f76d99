#pragma once
// Declares a fuzz target: its check of any bytes, and its valid seeds. libFuzzer runs it where clang exists. Everywhere
// regression_main.cpp runs it, with the seeds and seeded mutations of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace perdure::fuzz {

using Bytes = std::vector<std::byte>;

/// Implemented by each target.
void run_one(base::ConstByteSpan input);
std::vector<Bytes> seeds();

/// Checks a promise of the target beyond not crashing.
inline void require(bool promise) {
  if (!promise) std::abort();
}

/// Puts `mode` in front of `content`: targets choose the format by the first byte.
inline Bytes with_mode(std::uint8_t mode, base::ConstByteSpan content) {
  Bytes bytes{std::byte{mode}};
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

inline std::string_view text_of(base::ConstByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace perdure::fuzz
