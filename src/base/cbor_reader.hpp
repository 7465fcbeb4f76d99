#pragma once
// Reads CBOR (RFC 8949) item by item, without a tree. Its memory does not depend on the sizes that the input claims. It
// is for encodings of unbounded size; cbor.hpp reads small ones.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::base {

/// Takes items in their order. After the first error it reads no more, and values read before mean nothing. It knows
/// definite lengths only.
class CborReader {
 public:
  enum class Type { unsigned_number, negative_number, bytes, text, array, map, boolean, other, none };

  static constexpr std::size_t kMostString = 32 * KiB;  ///< of one text or byte string, skipped ones too
  static constexpr unsigned kMostNested = 16;           ///< of skipped items

  /// Gives the next target.size() bytes of the input.
  using Next = std::function<Status(ByteSpan target)>;
  /// Reads `bytes` of input and takes at most `most_items` items: values, keys, arrays and maps, at any depth.
  CborReader(std::uint64_t bytes, std::uint64_t most_items, Next next);
  CborReader(ConstByteSpan data, std::uint64_t most_items);

  bool good() const { return cause_.empty() && !failed_; }
  /// Returns the type of the next item; none at the end of the input, or after an error.
  Type type();
  std::uint64_t left() const { return window_.size() + unread_; }

  // Each call takes the next item. If that has another type, the error is "it is no ...".
  std::uint64_t unsigned_number();
  std::int64_t number();  ///< negative or not
  bool boolean();
  std::string text();
  std::vector<std::byte> bytes();
  std::uint64_t array();  ///< returns how many items follow; never more than bytes follow
  std::uint64_t map();    ///< returns how many pairs follow
  void skip();            ///< skips one item of any type with its content

  /// Returns PERDURE_CORRUPT about `object`, or the error of a failed read; success if all was good.
  Status check(const std::string& object) const;
  /// Does the same, and fails if input is left.
  Status end(const std::string& object) const;

 private:
  struct Head {
    unsigned major = 0;
    unsigned info = 0;
    std::uint64_t value = 0;
  };
  bool ensure(std::size_t bytes);
  void refuse(const char* cause) {
    if (good()) cause_ = cause;
  }
  bool is_next(Type expected, const char* otherwise);
  Head head();
  std::uint64_t count(unsigned least_bytes);
  ConstByteSpan string();
  ConstByteSpan take(std::size_t bytes);

  Next next_;
  std::uint64_t unread_ = 0;  // input bytes behind the window
  std::uint64_t items_left_;
  ConstByteSpan window_;
  std::vector<std::byte> buffer_;
  std::string cause_;
  std::optional<Error> failed_;  // the error of next_
};

}  // namespace perdure::base
