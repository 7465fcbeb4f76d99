#include "array/strided.hpp"

#include <algorithm>
#include <cstdlib>

namespace perdure::array {

std::int64_t Strided::at(const Index& index) const {
  std::int64_t place = offset;
  for (unsigned d = 0; d < box.dimensions; ++d)
    place += static_cast<std::int64_t>(index[d] - box.begin[d]) * strides[d];
  return place;
}

Strided packed(const Box& box, std::uint64_t element_bytes, std::int64_t offset) {
  Strided lies{box, {}, offset};
  auto stride = static_cast<std::int64_t>(element_bytes);
  for (unsigned d = box.dimensions; d > 0; --d) {
    lies.strides[d - 1] = stride;
    stride *= static_cast<std::int64_t>(box.extent(d - 1));
  }
  return lies;
}

Strided in_bytes(const Strided& lies, std::uint64_t element_bytes) {
  Strided wide{in_bytes(lies.box, element_bytes), lies.strides, lies.offset};
  wide.strides[lies.box.dimensions] = 1;
  return wide;
}

std::uint64_t StridedCopy::runs() const {
  if (bytes == 0) return 0;
  std::uint64_t product = 1;
  for (unsigned d = 0; d < dimensions; ++d) product *= count[d];
  return product;
}

StridedCopy strided_copy(const Box& part, std::uint64_t element_bytes, const Strided& from, const Strided& to) {
  StridedCopy all;
  if (part.empty()) return all;
  all.from = from.at(part.begin);
  all.to = to.at(part.begin);
  all.bytes = element_bytes;
  struct Loop {
    std::uint64_t count = 0;
    std::int64_t from = 0, to = 0;
  };
  std::array<Loop, kMostDimensions + 1> loops{};
  unsigned n = 0;
  for (unsigned d = 0; d < part.dimensions; ++d)
    if (part.extent(d) > 1) loops[n++] = {part.extent(d), from.strides[d], to.strides[d]};
  std::stable_sort(loops.begin(), loops.begin() + n,
                   [](const Loop& a, const Loop& b) { return std::abs(a.to) > std::abs(b.to); });
  // Merges bytes that both have without a gap into one run.
  while (n > 0 && loops[n - 1].from == static_cast<std::int64_t>(all.bytes) &&
         loops[n - 1].to == static_cast<std::int64_t>(all.bytes))
    all.bytes *= loops[--n].count;
  // Merges two loops if the outer one continues where the inner one ends.
  for (unsigned i = 0; i < n; ++i) {
    if (all.dimensions > 0) {
      const unsigned outer = all.dimensions - 1;
      const auto inner = static_cast<std::int64_t>(loops[i].count);
      if (all.from_step[outer] == loops[i].from * inner && all.to_step[outer] == loops[i].to * inner) {
        all.count[outer] *= loops[i].count;
        all.from_step[outer] = loops[i].from;
        all.to_step[outer] = loops[i].to;
        continue;
      }
    }
    all.count[all.dimensions] = loops[i].count;
    all.from_step[all.dimensions] = loops[i].from;
    all.to_step[all.dimensions] = loops[i].to;
    ++all.dimensions;
  }
  return all;
}

}  // namespace perdure::array
