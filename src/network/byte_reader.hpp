#pragma once
// Reads little-endian fields for codecs, here and in src/parity, only if they are there.
#include <array>
#include <concepts>
#include <cstring>
#include <string>

#include "network/wire.hpp"

namespace perdure::network {

class ByteReader {
 public:
  explicit ByteReader(ConstByteSpan bytes) : bytes_(bytes) {}
  bool good() const { return good_; }
  bool at_end() const { return good_ && bytes_.empty(); }

  template <std::unsigned_integral Number>
  Number number() {
    const ConstByteSpan raw = take(sizeof(Number));
    Number value = 0;
    for (std::size_t i = raw.size(); i > 0; --i)
      value = static_cast<Number>((std::uint64_t{value} << 8) | std::to_integer<std::uint64_t>(raw[i - 1]));
    return value;
  }
  template <std::size_t Size>
  std::array<std::byte, Size> array() {
    std::array<std::byte, Size> value{};
    const ConstByteSpan raw = take(Size);
    if (!raw.empty()) std::memcpy(value.data(), raw.data(), raw.size());
    return value;
  }
  /// Reads a 16-bit length, at most `limit`, and that number of bytes.
  ConstByteSpan sized(std::size_t limit) {
    const std::size_t bytes = number<std::uint16_t>();
    if (bytes > limit) good_ = false;
    return take(bytes);
  }
  std::string text(std::size_t limit) {
    const ConstByteSpan raw = sized(limit);
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  /// Does so with a 32-bit length.
  ConstByteSpan long_sized(std::size_t limit) {
    const std::size_t bytes = number<std::uint32_t>();
    if (bytes > limit) good_ = false;
    return take(bytes);
  }
  std::size_t left() const { return bytes_.size(); }
  ConstByteSpan rest() { return take(bytes_.size()); }

 private:
  ConstByteSpan take(std::size_t bytes) {
    if (!good_ || bytes > bytes_.size()) {
      good_ = false;
      return {};
    }
    const ConstByteSpan taken = bytes_.first(bytes);
    bytes_ = bytes_.subspan(bytes);
    return taken;
  }
  ConstByteSpan bytes_;
  bool good_ = true;
};

class ByteWriter {
 public:
  template <std::unsigned_integral Number>
  void number(Number value) {
    for (std::size_t i = 0; i < sizeof(Number); ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void raw(ConstByteSpan bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void sized(ConstByteSpan bytes) {
    number(static_cast<std::uint16_t>(bytes.size()));
    raw(bytes);
  }
  void long_sized(ConstByteSpan bytes) {
    number(static_cast<std::uint32_t>(bytes.size()));
    raw(bytes);
  }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  Bytes& bytes() { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace perdure::network
