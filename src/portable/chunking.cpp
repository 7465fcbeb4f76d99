#include "portable/chunking.hpp"

#include <algorithm>

namespace perdure::portable {
namespace {

/// Gives a divisor of `extent` that is at most `most` and not much less, or else `most`: so that chunks do not end
/// askew.
std::uint64_t part_of(std::uint64_t extent, std::uint64_t most) {
  for (std::uint64_t part = most; part > most / 2; --part)
    if (extent % part == 0) return part;
  return most;
}

}  // namespace

array::Index chunk_extents(const array::Box& whole, const array::Box& typical, std::uint64_t element_bytes,
                           std::uint64_t most_bytes) {
  const std::uint64_t most = std::max<std::uint64_t>(1, most_bytes / std::max<std::uint64_t>(1, element_bytes));
  array::Index chunk{};
  std::uint64_t elements = 1;
  for (unsigned d = 0; d < whole.dimensions; ++d) elements *= chunk[d] = std::max<std::uint64_t>(1, typical.extent(d));
  for (unsigned d = 0; d < whole.dimensions && elements > most; ++d) {
    const std::uint64_t row = elements / chunk[d];
    const std::uint64_t part = part_of(chunk[d], std::clamp<std::uint64_t>(most / row, 1, chunk[d]));
    elements = row * part;
    chunk[d] = part;
  }
  // Boxes of a few elements must not become chunks of a few elements.
  for (unsigned d = whole.dimensions; d > 0 && elements <= most / 2; --d) {
    const std::uint64_t extent = std::max<std::uint64_t>(1, whole.extent(d - 1)), row = elements / chunk[d - 1];
    const std::uint64_t times = std::min((extent + chunk[d - 1] - 1) / chunk[d - 1], most / elements);
    chunk[d - 1] = std::min(extent, chunk[d - 1] * times);
    elements = row * chunk[d - 1];
  }
  return chunk;
}

std::uint64_t ChunkGrid::chunks() const {
  std::uint64_t product = 1;
  for (unsigned d = 0; d < whole_.dimensions; ++d) product *= (whole_.extent(d) + extents_[d] - 1) / extents_[d];
  return product;
}

array::Index ChunkGrid::number(const array::Index& at) const {
  array::Index number{};
  for (unsigned d = 0; d < whole_.dimensions; ++d) number[d] = at[d] / extents_[d];
  return number;
}

array::Box ChunkGrid::chunk(const array::Index& number) const {
  array::Box box = whole_;
  for (unsigned d = 0; d < whole_.dimensions; ++d) {
    box.begin[d] = number[d] * extents_[d];
    box.end[d] = std::min(whole_.end[d], box.begin[d] + extents_[d]);
  }
  return box;
}

}  // namespace perdure::portable
