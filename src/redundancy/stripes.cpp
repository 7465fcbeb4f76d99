#include "redundancy/stripes.hpp"

#include <algorithm>

namespace perdure::redundancy {

// Everything repeats after n stripes, a cycle: a position has k blocks and m parities in it. Its parities are in the
// stripes position-m+1 .. position of the cycle, modulo n. They are one run, or two, at the begin and at the end.

Stripes Stripes::at_server(unsigned n) { return {n, 1, n}; }

unsigned Stripes::parity_position(std::uint64_t stripe, unsigned j) const {
  return served() ? n_ : static_cast<unsigned>((stripe + j) % n_);
}

unsigned Stripes::parities_before(unsigned position, unsigned residue) const {
  if (position + 1 >= m_) return std::clamp(residue, position + 1 - m_, position + 1) - (position + 1 - m_);
  const unsigned late = n_ - (m_ - 1 - position);  // where the second run begins
  return std::min(residue, position + 1) + (residue > late ? residue - late : 0);
}

Block Stripes::block(Place place) const {
  if (served()) return {place.index, place.stripe};
  const auto residue = static_cast<unsigned>(place.stripe % n_);
  const auto position = (residue + m_ + place.index) % n_;
  return {position, place.stripe / n_ * k_ + residue - parities_before(position, residue)};
}

Place Stripes::place(Block block) const {
  if (served()) return {block.number, block.position};
  const auto nth = static_cast<unsigned>(block.number % k_);
  // The stripes without a parity here are one run, or two around the parities.
  unsigned residue = nth;
  if (block.position + 1 < m_)
    residue += block.position + 1;
  else if (nth >= block.position + 1 - m_)
    residue += m_;
  return {block.number / k_ * n_ + residue, (block.position + n_ - residue) % n_ - m_};
}

std::uint64_t Stripes::count(std::span<const std::uint64_t> blocks) const {
  std::uint64_t stripes = 0;
  for (unsigned p = 0; p < blocks.size(); ++p)
    if (blocks[p] > 0) stripes = std::max(stripes, place({p, blocks[p] - 1}).stripe + 1);
  return stripes;
}

std::uint64_t Stripes::parities_at(unsigned position, std::uint64_t stripes) const {
  if (served()) return position == n_ ? stripes : 0;
  return stripes / n_ * m_ + parities_before(position, static_cast<unsigned>(stripes % n_));
}

Place Stripes::parity_at(unsigned position, std::uint64_t number) const {
  if (served()) return {number, 0};
  const auto nth = static_cast<unsigned>(number % m_);
  unsigned residue = 0;
  if (position + 1 >= m_)
    residue = position + 1 - m_ + nth;
  else
    residue = nth <= position ? nth : n_ - m_ + nth;
  return {number / m_ * n_ + residue, (position + n_ - residue) % n_};
}

}  // namespace perdure::redundancy
