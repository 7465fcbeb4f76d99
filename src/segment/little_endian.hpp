#pragma once
// Reads and writes fixed-size little-endian integers in byte blocks, on any machine. Callers check bounds.
#include <concepts>
#include <cstddef>

#include "base/bytes.hpp"

namespace perdure::segment {

template <std::unsigned_integral T>
void put_le(base::ByteSpan block, std::size_t offset, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) block[offset + i] = static_cast<std::byte>((value >> (8 * i)) & 0xFF);
}

template <std::unsigned_integral T>
T get_le(base::ConstByteSpan block, std::size_t offset) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>((value << 8) | std::to_integer<unsigned>(block[offset + i]));
  return value;
}

}  // namespace perdure::segment
