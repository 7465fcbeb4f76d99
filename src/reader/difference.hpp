#pragma once
// Finds where two arrays of one type and of the same extents differ, and how much. Pure.
#include <optional>
#include <string>

#include "array/box.hpp"
#include "array/element_type.hpp"

namespace perdure::reader {

/// An element differs if any of its bytes do, except padding between members: 0.0 differs from -0.0, by 0.
struct Difference {
  std::uint64_t elements = 0, differing = 0;
  std::uint64_t nans = 0;             ///< differing elements with NaN on at least one side
  std::optional<array::Index> first;  ///< the first one that differs
  std::optional<double> largest;      ///< of the numbers that differ, by their absolute difference
  array::Index largest_at{};          ///< the first element with that
  std::string largest_in;             ///< its member
};

/// Takes the elements of both in any order.
class Comparison {
 public:
  explicit Comparison(array::ElementType type) : type_(std::move(type)) {}
  /// Takes the elements of the box, packed.
  void add(const array::Box& box, base::ConstByteSpan a, base::ConstByteSpan b);
  const Difference& result() const { return result_; }

 private:
  void add_element(const array::Index& at, base::ConstByteSpan a, base::ConstByteSpan b);

  array::ElementType type_;
  Difference result_;
};

}  // namespace perdure::reader
