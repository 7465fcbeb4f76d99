#pragma once
// Says which elements around its own index a kernel reads. Pure.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "mesh/division.hpp"

namespace perdure::mesh {

/// A set of offsets, as up to four boxes from `begin` to before `end`, x first.
class Stencil {
 public:
  /// Contains the element itself.
  Stencil() : count_(1) { parts_[0] = {}, parts_[0].end = {1, 1, 1, 1, 1}; }
  const Box* begin() const { return parts_.data(); }
  const Box* end() const { return parts_.data() + count_; }
  bool contains(std::int64_t dx, std::int64_t dy, std::int64_t dz) const;
  /// The least and the greatest offset in a dimension.
  std::int64_t below(unsigned dimension) const;
  std::int64_t above(unsigned dimension) const;

  /// Contains the box between two corners, both included; missing dimensions are 0.
  static Stencil from_to(Index first, Index last);
  /// Contains -`radius` to `radius` along each axis: for a radius of 1, 5 points in two dimensions, 7 in three.
  static Stencil star(unsigned dimensions, std::int64_t radius = 1);
  /// Joins both; up to four boxes in all.
  Stencil operator+(const Stencil& other) const;

 private:
  static constexpr std::size_t kMost = 4;
  std::array<Box, kMost> parts_{};
  std::size_t count_ = 0;
};

}  // namespace perdure::mesh
