#pragma once
// Helps to write kernels once that are the same in each direction, and in two and three dimensions.
#include "fields.hpp"

namespace clover {

template <unsigned axis>
inline Index steps(std::int64_t count) {
  Index offset{};
  offset[axis] = count;
  return offset;
}

/// Reads from `first` to `last` along the axis.
template <unsigned axis>
inline Stencil steps(std::int64_t first, std::int64_t last) {
  return Stencil::from_to(steps<axis>(first), steps<axis>(last));
}

/// Makes a loop name for each axis, because loops of different axes are different loops.
template <unsigned axis>
const char* name_along(Fields& fields, const char* what) {
  return fields.name(std::string(what) + " along " + kAxes[axis]);
}

/// Returns the element `count` steps along the axis.
template <unsigned axis, class Accessor>
inline double at(const Accessor& accessor, std::int64_t count) {
  return accessor(axis == 0 ? count : 0, axis == 1 ? count : 0, axis == 2 ? count : 0);
}

/// Returns the flux through the upper face less the flux through the lower one.
template <unsigned axis, class Accessor>
inline double outflow(const Accessor& flux) {
  return at<axis>(flux, 1) - at<axis>(flux, 0);
}

}  // namespace clover
