#include "mesh/ghosts.hpp"

#include <algorithm>

#include "mesh/rows.hpp"

namespace perdure::mesh {
namespace {

// Returns the box of a data set towards a neighbour: the ghosts that it owns, or this rank's elements that it
// has as ghosts.
Box towards(const Dataset& set, const Direction& direction, bool ghosts) {
  Box box = set.owned();
  const std::int64_t width = set.shape().halo;
  for (unsigned d = 0; d < box.dimensions; ++d) {
    if (direction[d] == 0) continue;
    const bool above = direction[d] > 0;
    const std::int64_t border = above ? set.owned().end[d] : set.owned().begin[d];
    box.begin[d] = above == ghosts ? border : border - width;
    box.end[d] = box.begin[d] + width;
  }
  return box;
}

bool only_the_element_itself(const Box& offsets, const Division& division) {
  for (unsigned d = 0; d < division.dimensions(); ++d)
    if (division.grid()[d] > 1 && (offsets.begin[d] < 0 || offsets.end[d] > 1)) return false;
  return true;
}

// Adds the reads of all parts in one dimension. Returns false if some part reads more than its ghosts hold.
bool add_reads(const Division& division, unsigned dimension, const std::array<std::int64_t, 2>& range,
               const std::array<std::int64_t, 2>& offsets, std::int64_t halo, Neighbours::Extent& read) {
  for (int at = 0; at < division.grid()[dimension]; ++at) {
    const auto part = division.interval(dimension, at);
    const std::int64_t first = std::max(range[0], part[0]), last = std::min(range[1], part[1]) - 1;
    if (first > last) continue;
    const std::int64_t begin = first + offsets[0], end = last + offsets[1];
    if (begin < part[0] - halo || end > part[1] + halo) return false;
    read.add(begin, end, part);
  }
  return true;
}

}  // namespace

std::optional<Neighbours> need_of(const Use& use, const Box& range) {
  const Division& division = use.set->block().division;
  Neighbours need;
  if (use.mode == track::Access::Mode::write || division.ranks() == 1 || range.empty()) return need;
  for (const Box& offsets : *use.stencil) {
    if (only_the_element_itself(offsets, division)) continue;
    Neighbours::Extents read = Neighbours::within();
    for (unsigned d = 0; d < division.dimensions(); ++d) {
      read[d] = {};
      if (!add_reads(division, d, {range.begin[d], range.end[d]}, {offsets.begin[d], offsets.end[d]},
                     use.set->shape().halo, read[d]))
        return std::nullopt;
    }
    need = need | Neighbours(read);
  }
  return need;
}

const Dataset* GhostExchange::bring(const Box& range, std::span<const Use> uses) {
  wanted_.clear();
  for (const Use& use : uses) {
    const auto need = need_of(use, range);
    if (!need) return use.set;
    want(*use.set, *need & use.set->stale);
  }
  if (wanted_.empty()) return nullptr;
  exchange();
  for (const Wanted& one : wanted_) one.set->stale = one.set->stale - one.from;
  return nullptr;
}

void GhostExchange::want(Dataset& set, Neighbours from) {
  if (from.empty()) return;
  const auto same = [&](const Wanted& one) { return one.set == &set; };
  if (const auto known = std::find_if(wanted_.begin(), wanted_.end(), same); known != wanted_.end())
    known->from = known->from | from;
  else
    wanted_.push_back({&set, from});
}

// Elements wanted from one direction are sent in the opposite one. All ranks want the same directions, even a rank
// whose part of the loop reads none. So each rank knows without asking what its neighbours send and expect.
void GhostExchange::exchange() {
  const Division& division = wanted_.front().set->block().division;
  Neighbours from;
  for (const Wanted& one : wanted_) from = from | one.from;
  sends_.clear();
  receives_.clear();
  for (std::size_t direction = 0; direction < Neighbours::kDirections; ++direction) {
    const bool comes = from.has(direction), goes = from.has(Neighbours::opposite(direction));
    if (!comes && !goes) continue;
    const int peer = division.neighbour(ranks_.rank(), Neighbours::direction(direction));
    if (peer < 0) continue;
    if (comes) receive(peer, direction);
    if (goes) send(peer, direction);
  }
  ranks_.exchange(receives_, sends_);
  ++exchanges_;
  messages_sent_ += sends_.size();
  for (std::size_t direction = 0; direction < Neighbours::kDirections; ++direction)
    if (from.has(direction) && division.neighbour(ranks_.rank(), Neighbours::direction(direction)) >= 0)
      unpack_from(direction);
}

void GhostExchange::send(int peer, std::size_t direction) {
  const std::size_t back = Neighbours::opposite(direction);
  const Direction there = Neighbours::direction(direction);
  std::size_t bytes = 0;
  for (const Wanted& one : wanted_)
    if (one.from.has(back)) bytes += packed_bytes(*one.set, towards(*one.set, there, false));
  std::vector<std::byte>& out = out_[direction];
  out.resize(std::max(out.size(), bytes));
  std::byte* packed = out.data();
  for (const Wanted& one : wanted_)
    if (one.from.has(back)) packed = pack(*one.set, towards(*one.set, there, false), packed);
  sends_.push_back({peer, std::span(out).first(bytes)});
  bytes_sent_ += bytes;
}

void GhostExchange::receive(int peer, std::size_t direction) {
  std::size_t bytes = 0;
  for (const Wanted& one : wanted_)
    if (one.from.has(direction))
      bytes += packed_bytes(*one.set, towards(*one.set, Neighbours::direction(direction), true));
  std::vector<std::byte>& in = in_[direction];
  in.resize(std::max(in.size(), bytes));
  receives_.push_back({peer, std::span(in).first(bytes)});
}

void GhostExchange::unpack_from(std::size_t direction) {
  const std::byte* packed = in_[direction].data();
  for (const Wanted& one : wanted_)
    if (one.from.has(direction))
      packed = unpack(*one.set, towards(*one.set, Neighbours::direction(direction), true), packed);
}

}  // namespace perdure::mesh
