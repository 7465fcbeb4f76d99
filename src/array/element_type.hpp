#pragma once
// Describes the elements of an array, in the text form of programs and manifests. Pure.
//
//   type   := scalar | "{" member ("," member)* "}"
//   scalar := i1 i2 i4 i8 | u1 u2 u4 u8 | f4 f8 | c8 c16 | b1 | v<N>
//   member := name ":" [count] scalar | v<N>
//
// The kinds are integers, unsigned integers, reals, complex numbers (two reals), truth values, and N opaque bytes. The
// number is the size of one in bytes. A member without a name is padding between others. "{position:3f8,id:i4,v4}".
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::array {

enum class ScalarKind : std::uint8_t { integer, natural, real, complex, truth, bytes };

struct Scalar {
  ScalarKind kind = ScalarKind::bytes;
  std::uint64_t bytes = 0;  ///< of one
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

/// So many scalars of one kind, side by side in an element.
struct Member {
  std::string name;  ///< empty: of a type without members, or padding
  Scalar scalar;
  std::uint64_t count = 1;
  std::uint64_t offset = 0;  ///< in the element
  friend bool operator==(const Member&, const Member&) = default;
};

class ElementType {
 public:
  /// Fails with PERDURE_INVALID_ARGUMENT about `object`, which says the defect and its place in the text. Limits: 4096
  /// characters, 256 members and 2^20 bytes for an element.
  static base::Result<ElementType> parse(std::string_view text, const std::string& object);
  /// Makes a type of N opaque bytes.
  static ElementType of_bytes(std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }
  bool compound() const { return compound_; }
  /// A type without members returns itself, without a name.
  const std::vector<Member>& members() const { return members_; }
  std::string text() const;  ///< parse() gives the same type back
  friend bool operator==(const ElementType&, const ElementType&) = default;

 private:
  std::vector<Member> members_;
  std::uint64_t bytes_ = 0;
  bool compound_ = false;
};

/// Converts one value, of a kind that is not bytes, to a number; the real part of a complex one. `at` has scalar.bytes
/// bytes.
double as_number(const Scalar& scalar, base::ConstByteSpan at);

}  // namespace perdure::array
