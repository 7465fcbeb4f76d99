#pragma once
// A fuzz target: what is done with any bytes, and good inputs to begin with. libFuzzer drives it where there is clang;
// everywhere regression_main.cpp does, with the seeds and seeded mutations of them.
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

/// The promise that a target checks beyond not crashing.
inline void require(bool promise) {
  if (!promise) std::abort();
}

/// `mode` in front of `content`: targets choose by the first byte what the rest is.
inline Bytes with_mode(std::uint8_t mode, base::ConstByteSpan content) {
  Bytes bytes{std::byte{mode}};
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

inline std::string_view text_of(base::ConstByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace perdure::fuzz
