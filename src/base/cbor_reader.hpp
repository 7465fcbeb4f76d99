#pragma once
// CBOR (RFC 8949) item by item, without a tree of it: what it costs does not depend on what the input claims. For
// encodings whose size nothing bounds; small ones are read with cbor.hpp.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::base {

/// Takes items in their order. After the first error it reads no more; what was read till then means nothing. Definite
/// lengths only.
class CborReader {
 public:
  enum class Type { unsigned_number, negative_number, bytes, text, array, map, boolean, other, none };

  static constexpr std::size_t kMostString = 32 * KiB;  ///< of one text or byte string, also where it is skipped
  static constexpr unsigned kMostNested = 16;           ///< of what is skipped

  /// Gives the next target.size() bytes of the input.
  using Next = std::function<Status(ByteSpan target)>;
  /// `bytes` of input, of which at most `most_items` items are taken: values, keys, arrays and maps, at any depth.
  CborReader(std::uint64_t bytes, std::uint64_t most_items, Next next);
  CborReader(ConstByteSpan data, std::uint64_t most_items);

  bool good() const { return cause_.empty() && !failed_; }
  /// Of the next item; none at the end of the input, or after an error.
  Type type();
  std::uint64_t left() const { return window_.size() + unread_; }

  // Each takes the next item, which must be of that type, else "it is no ..." is the error.
  std::uint64_t unsigned_number();
  std::int64_t number();  ///< negative or not
  bool boolean();
  std::string text();
  std::vector<std::byte> bytes();
  std::uint64_t array();  ///< how many items follow; never more than bytes follow
  std::uint64_t map();    ///< how many pairs follow
  void skip();            ///< whatever it is, with all that is in it

  /// PERDURE_CORRUPT about `object`, or what reading the input failed with, unless all was good.
  Status check(const std::string& object) const;
  /// The same, and nothing is left.
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
  std::uint64_t unread_ = 0;  // of the input, behind the window
  std::uint64_t items_left_;
  ConstByteSpan window_;
  std::vector<std::byte> buffer_;
  std::string cause_;
  std::optional<Error> failed_;  // of next_
};

}  // namespace perdure::base
