#pragma once
// Rounds, parses and formats sizes in bytes.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace perdure::base {

inline constexpr std::uint64_t KiB = 1024;
inline constexpr std::uint64_t MiB = 1024 * KiB;
inline constexpr std::uint64_t GiB = 1024 * MiB;

using ByteSpan = std::span<std::byte>;
using ConstByteSpan = std::span<const std::byte>;

/// A run of contiguous memory. With address nullptr it stands for bytes that nobody wants.
struct MemorySpan {
  std::byte* address = nullptr;
  std::uint64_t length = 0;
};

/// Returns the smallest multiple of `unit` (> 0) that is not below `value`.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// Parses "256MiB", "1.5 GiB", "64k" or "1000" into bytes. Units: B, K/KiB, M/MiB, G/GiB, T/TiB (powers of 1024),
/// KB/MB/GB/TB (powers of 1000).
Result<std::uint64_t> parse_bytes(std::string_view text);

/// Formats 268435456 as "256.0 MiB".
std::string format_bytes(std::uint64_t bytes);

inline ConstByteSpan as_bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

}  // namespace perdure::base
