#include "mesh/data.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace perdure::mesh {
namespace {

constexpr std::size_t kAlignment = 64;

std::byte* cleared(std::size_t bytes) {
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  return memory;
}

}  // namespace

Dataset::Dataset(const Block& block, std::string name, std::size_t element_bytes, std::string type, Shape shape,
                 int rank)
    : block_(&block),
      name_(std::move(name)),
      type_(std::move(type)),
      shape_(std::move(shape)),
      element_bytes_(element_bytes),
      memory_(nullptr, std::free) {
  whole_.dimensions = block.dimensions();
  for (unsigned d = 0; d < block.dimensions(); ++d) {
    whole_.begin[d] = -shape_.halo;
    whole_.end[d] = block.cells[d] + shape_.more[d] + shape_.halo;
  }
  owned_ = intersection(whole_, block.part);
  local_ = owned_;
  for (unsigned d = 0; d < block.dimensions(); ++d) {
    if (block.division.neighbour(rank, d, false) >= 0) local_.begin[d] -= shape_.halo;
    if (block.division.neighbour(rank, d, true) >= 0) local_.end[d] += shape_.halo;
  }
  std::int64_t elements = 1;
  for (unsigned d = 0; d < block.dimensions(); ++d) {
    strides_[d] = elements;
    elements *= local_.end[d] - local_.begin[d];
  }
  memory_.reset(cleared(static_cast<std::size_t>(elements) * element_bytes_));
}

Box Dataset::inner() const {
  Box box = whole_;
  for (unsigned d = 0; d < box.dimensions; ++d) {
    box.begin[d] += shape_.halo;
    box.end[d] -= shape_.halo;
  }
  return box;
}

std::byte* Dataset::address(const Index& index) const {
  std::int64_t at = 0;
  for (unsigned d = 0; d < local_.dimensions; ++d) at += (index[d] - local_.begin[d]) * strides_[d];
  return memory_.get() + at * static_cast<std::int64_t>(element_bytes_);
}

void Dataset::ghosts_are_stale(const Box& written) {
  const Division& division = block_->division;
  if (division.ranks() == 1 || stale == Neighbours::all()) return;
  Neighbours::Extents changed = Neighbours::within();
  for (unsigned d = 0; d < division.dimensions(); ++d) {
    changed[d] = {};
    for (int at = 0; at < division.grid()[d]; ++at) {
      const auto part = division.interval(d, at);
      const std::int64_t begin = std::max(written.begin[d], part[0] - shape_.halo);
      const std::int64_t end = std::min(written.end[d], part[1] + shape_.halo);
      if (begin < end) changed[d].add(begin, end, part);
    }
  }
  stale = stale | Neighbours(changed);
}

}  // namespace perdure::mesh
