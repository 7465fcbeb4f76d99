#include "mesh/stencil.hpp"

#include <algorithm>
#include <stdexcept>

namespace perdure::mesh {

bool Stencil::contains(std::int64_t dx, std::int64_t dy, std::int64_t dz) const {
  return std::any_of(begin(), end(), [&](const Box& part) {
    return dx >= part.begin[0] && dx < part.end[0] && dy >= part.begin[1] && dy < part.end[1] && dz >= part.begin[2] &&
           dz < part.end[2];
  });
}

std::int64_t Stencil::below(unsigned dimension) const {
  std::int64_t least = begin()->begin[dimension];
  for (const Box& part : *this) least = std::min(least, part.begin[dimension]);
  return least;
}

std::int64_t Stencil::above(unsigned dimension) const {
  std::int64_t most = begin()->end[dimension] - 1;
  for (const Box& part : *this) most = std::max(most, part.end[dimension] - 1);
  return most;
}

Stencil Stencil::from_to(Index first, Index last) {
  Stencil made;
  for (unsigned d = 0; d < kMostBlockDimensions; ++d) {
    made.parts_[0].begin[d] = std::min(first[d], last[d]);
    made.parts_[0].end[d] = std::max(first[d], last[d]) + 1;
  }
  return made;
}

Stencil Stencil::star(unsigned dimensions, std::int64_t radius) {
  Stencil made;
  made.count_ = 0;
  for (unsigned d = 0; d < dimensions; ++d) {
    Index last{};
    last[d] = radius;
    Index first{};
    first[d] = -radius;
    made = made.count_ == 0 ? from_to(first, last) : made + from_to(first, last);
  }
  return made;
}

Stencil Stencil::operator+(const Stencil& other) const {
  Stencil made = *this;
  if (count_ + other.count_ > kMost) throw std::invalid_argument("mesh: a stencil has up to four boxes");
  std::copy(other.begin(), other.end(), made.parts_.begin() + static_cast<std::ptrdiff_t>(count_));
  made.count_ += other.count_;
  return made;
}

}  // namespace perdure::mesh
