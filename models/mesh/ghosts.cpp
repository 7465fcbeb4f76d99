#include "mesh/ghosts.hpp"

#include <algorithm>

#include "mesh/rows.hpp"

namespace perdure::mesh {
namespace {

// The slab at one end of a data set's part: its own elements there, or the ghosts beyond. Ghosts of the dimensions
// before have come already, and go along.
Box slab(const Dataset& set, unsigned dimension, bool above, bool ghosts) {
  Box slab = set.owned();
  for (unsigned d = 0; d < dimension; ++d) {
    slab.begin[d] = set.local().begin[d];
    slab.end[d] = set.local().end[d];
  }
  const std::int64_t width = set.ghosts(dimension, above);
  const std::int64_t end = above ? set.owned().end[dimension] : set.owned().begin[dimension];
  const bool upwards = above == ghosts;
  slab.begin[dimension] = upwards ? end : end - width;
  slab.end[dimension] = upwards ? end + width : end;
  return slab;
}

}  // namespace

Need need_of(const Use& use, const Box& range) {
  if (use.mode == track::Access::Mode::write) return Need::nothing;
  const Division& division = use.set->block().division;
  const std::int64_t halo = use.set->shape().halo;
  Need need = Need::nothing;
  for (unsigned d = 0; d < division.dimensions(); ++d) {
    const std::int64_t below = use.stencil->below(d), above = use.stencil->above(d);
    if (below >= 0 && above <= 0) continue;
    for (int part = 0; part < division.grid()[d]; ++part) {
      const auto [begin, end] = division.interval(d, part);
      const std::int64_t first = std::max(range.begin[d], begin), last = std::min(range.end[d], end) - 1;
      if (first > last) continue;
      const std::int64_t down = part == 0 ? 0 : begin - (first + below);
      const std::int64_t up = part + 1 == division.grid()[d] ? 0 : last + above - (end - 1);
      if (down > halo || up > halo) return Need::too_much;
      if (down > 0 || up > 0) need = Need::ghosts;
    }
  }
  return need;
}

void GhostExchange::fill(std::span<Dataset* const> sets) {
  if (sets.empty()) return;
  const Block& block = sets.front()->block();
  for (unsigned d = 0; d < block.dimensions(); ++d)
    if (block.division.grid()[d] > 1) fill(sets, d);
  for (Dataset* set : sets) set->ghosts_good = true;
}

void GhostExchange::fill(std::span<Dataset* const> sets, unsigned dimension) {
  const Division& division = sets.front()->block().division;
  Ranks::Message sends[2], receives[2];
  std::size_t count = 0;
  for (const bool above : {false, true}) {
    const int peer = division.neighbour(ranks_.rank(), dimension, above);
    if (peer < 0) continue;
    std::size_t bytes = 0;
    for (const Dataset* set : sets) bytes += packed_bytes(*set, slab(*set, dimension, above, false));
    out_[count].resize(std::max(out_[count].size(), bytes));
    in_[count].resize(std::max(in_[count].size(), bytes));
    std::byte* packed = out_[count].data();
    for (const Dataset* set : sets) packed = pack(*set, slab(*set, dimension, above, false), packed);
    sends[count] = {peer, std::span(out_[count]).first(bytes)};
    receives[count] = {peer, std::span(in_[count]).first(bytes)};
    bytes_sent_ += bytes;
    ++count;
  }
  ranks_.exchange(std::span(receives, count), std::span(sends, count));
  ++exchanges_;
  count = 0;
  for (const bool above : {false, true}) {
    if (division.neighbour(ranks_.rank(), dimension, above) < 0) continue;
    const std::byte* packed = in_[count++].data();
    for (const Dataset* set : sets) packed = unpack(*set, slab(*set, dimension, above, true), packed);
  }
}

}  // namespace perdure::mesh
