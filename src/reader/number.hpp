#pragma once
// Maps element types to types of C++. Inside this module only.
#include <cstdint>
#include <type_traits>

#include "array/element_type.hpp"

namespace perdure::reader {

template <class T>
using HeldAs = std::conditional_t<std::is_floating_point_v<T>, double,
                                  std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// Calls `use(T())` with the type of one value; not at all for complex ones and bytes.
template <class Use>
void with_type(const array::Scalar& scalar, Use&& use) {
  const auto sized = [&](auto one, auto two, auto four, auto eight) {
    if (scalar.bytes == 1) use(one);
    if (scalar.bytes == 2) use(two);
    if (scalar.bytes == 4) use(four);
    if (scalar.bytes == 8) use(eight);
  };
  switch (scalar.kind) {
    case array::ScalarKind::integer:
      return sized(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::int64_t{});
    case array::ScalarKind::natural:
    case array::ScalarKind::truth:
      return sized(std::uint8_t{}, std::uint16_t{}, std::uint32_t{}, std::uint64_t{});
    case array::ScalarKind::real:
      return scalar.bytes == 4 ? use(float{}) : use(double{});
    case array::ScalarKind::complex:
    case array::ScalarKind::bytes:
      return;
  }
}

}  // namespace perdure::reader
