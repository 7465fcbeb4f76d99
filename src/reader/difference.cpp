#include "reader/difference.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "reader/number.hpp"

namespace perdure::reader {
namespace {

using array::Index;
using array::Member;
using array::Scalar;
using array::ScalarKind;

bool equal(base::ConstByteSpan a, base::ConstByteSpan b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0;
}

template <class T>
double apart(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a == b ? 0 : std::abs(static_cast<double>(a) - static_cast<double>(b));
  } else {
    // Two integers can be further apart than either type reaches, and nearer than a double resolves.
    const auto wide_a = static_cast<std::uint64_t>(a), wide_b = static_cast<std::uint64_t>(b);
    return static_cast<double>(a < b ? wide_b - wide_a : wide_a - wide_b);
  }
}

/// Returns NaN if one of them is NaN; nothing for bytes.
std::optional<double> apart(const Scalar& scalar, base::ConstByteSpan a, base::ConstByteSpan b) {
  if (scalar.kind == ScalarKind::complex) {
    const Scalar half{ScalarKind::real, scalar.bytes / 2};
    const auto real = *apart(half, a, b), imaginary = *apart(half, a.subspan(half.bytes), b.subspan(half.bytes));
    return std::isnan(real) ? real : std::isnan(imaginary) ? imaginary : std::hypot(real, imaginary);
  }
  std::optional<double> found;
  with_type(scalar, [&]<class T>(T) {
    T x, y;
    std::memcpy(&x, a.data(), sizeof x);
    std::memcpy(&y, b.data(), sizeof y);
    found = apart(x, y);
  });
  return found;
}

/// Returns the index of an element of a box, from its number.
Index index_of(const array::Box& box, std::uint64_t number) {
  Index at = box.begin;
  for (unsigned d = box.dimensions; d > 0; --d) {
    at[d - 1] += number % box.extent(d - 1);
    number /= box.extent(d - 1);
  }
  return at;
}

}  // namespace

void Comparison::add(const array::Box& box, base::ConstByteSpan a, base::ConstByteSpan b) {
  const std::uint64_t count = box.elements(), bytes = type_.bytes();
  result_.elements += count;
  if (equal(a, b)) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto one = a.subspan(i * bytes, bytes), other = b.subspan(i * bytes, bytes);
    if (!equal(one, other)) add_element(index_of(box, i), one, other);
  }
}

void Comparison::add_element(const Index& at, base::ConstByteSpan a, base::ConstByteSpan b) {
  bool differs = false, nan = false;
  for (const Member& member : type_.members()) {
    if (type_.compound() && member.name.empty()) continue;
    for (std::uint64_t i = 0; i < member.count; ++i) {
      const std::uint64_t offset = member.offset + i * member.scalar.bytes;
      const auto one = a.subspan(offset, member.scalar.bytes), other = b.subspan(offset, member.scalar.bytes);
      if (equal(one, other)) continue;
      differs = true;
      const auto by = apart(member.scalar, one, other);
      if (!by) continue;
      if (std::isnan(*by)) {
        nan = true;
        continue;
      }
      if (result_.largest && (*by < *result_.largest || (*by == *result_.largest && at >= result_.largest_at)))
        continue;
      result_.largest = by;
      result_.largest_at = at;
      result_.largest_in = member.name;
    }
  }
  result_.differing += differs;
  result_.nans += nan;
  if (differs && (!result_.first || at < *result_.first)) result_.first = at;
}

}  // namespace perdure::reader
