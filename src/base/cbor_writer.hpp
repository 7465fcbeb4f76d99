#pragma once
// Writes CBOR (RFC 8949) item by item, without a tree. Lengths are definite and forms the shortest: the bytes are those
// of cbor.hpp's encoder. The caller writes the keys of maps in ascending order.
#include <array>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace perdure::base {

class CborWriter {
 public:
  /// Appends to `out`. With nullptr it only counts bytes.
  explicit CborWriter(std::vector<std::byte>* out) : out_(out) {}

  void unsigned_number(std::uint64_t value) { head(0, value); }
  void number(std::int64_t value) {
    value < 0 ? head(1, static_cast<std::uint64_t>(-1 - value)) : head(0, static_cast<std::uint64_t>(value));
  }
  void boolean(bool value) { head(7, value ? 21 : 20); }
  void bytes(ConstByteSpan value) { head(2, value.size()), put(value); }
  void text(std::string_view value) { head(3, value.size()), put(as_bytes(value)); }
  void array(std::uint64_t items) { head(4, items); }  ///< announces so many items
  void map(std::uint64_t pairs) { head(5, pairs); }
  std::uint64_t size() const { return size_; }  ///< all bytes written so far

 private:
  void head(unsigned major, std::uint64_t value) {
    const auto first = [major](unsigned info) { return static_cast<std::byte>(major << 5 | info); };
    if (value < 24) return put(std::array{first(static_cast<unsigned>(value))});
    const unsigned power = value <= 0xff ? 0 : value <= 0xffff ? 1 : value <= 0xffffffff ? 2 : 3;
    std::array<std::byte, 9> raw{first(24 + power)};
    const unsigned bytes = 1U << power;
    for (unsigned i = 0; i < bytes; ++i) raw[1 + i] = static_cast<std::byte>(value >> (8 * (bytes - 1 - i)));
    put(ConstByteSpan(raw).first(1 + bytes));
  }
  void put(ConstByteSpan bytes) {
    size_ += bytes.size();
    if (out_ != nullptr) out_->insert(out_->end(), bytes.begin(), bytes.end());
  }

  std::vector<std::byte>* out_;
  std::uint64_t size_ = 0;
};

}  // namespace perdure::base
