#include "array/box.hpp"

#include <algorithm>
#include <limits>

namespace perdure::array {
namespace {

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();

}  // namespace

bool Box::empty() const {
  for (unsigned d = 0; d < dimensions; ++d)
    if (begin[d] >= end[d]) return true;
  return false;
}

std::uint64_t Box::elements() const {
  if (empty()) return 0;
  std::uint64_t product = 1;
  for (unsigned d = 0; d < dimensions; ++d) product *= extent(d);
  return product;
}

bool Box::contains(const Box& other) const {
  if (other.empty()) return true;
  for (unsigned d = 0; d < dimensions; ++d)
    if (other.begin[d] < begin[d] || other.end[d] > end[d]) return false;
  return true;
}

std::string Box::text() const {
  std::string text = "[";
  for (unsigned d = 0; d < dimensions; ++d)
    text += (d == 0 ? "" : ", ") + std::to_string(begin[d]) + ":" + std::to_string(end[d]);
  return text + "]";
}

base::Result<Box> whole(std::span<const std::uint64_t> extents, std::uint64_t element_bytes,
                        const std::string& object) {
  if (extents.size() > kMostDimensions)
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "it has " + std::to_string(extents.size()) + " dimensions",
                      "an array has at most " + std::to_string(kMostDimensions));
  if (element_bytes == 0) return base::fail(PERDURE_INVALID_ARGUMENT, object, "its elements have no bytes");
  Box box;
  box.dimensions = static_cast<unsigned>(extents.size());
  if (std::any_of(extents.begin(), extents.end(), [](std::uint64_t extent) { return extent > kMostBytes; }))
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "an extent is not below 2^63");
  std::copy(extents.begin(), extents.end(), box.end.begin());
  if (box.empty()) return box;
  std::uint64_t bytes = element_bytes;
  for (const std::uint64_t extent : extents) {
    if (bytes > kMostBytes / extent)
      return base::fail(PERDURE_INVALID_ARGUMENT, object,
                        "extents " + box.text() + " of " + std::to_string(element_bytes) +
                            " bytes each are together not below 2^63 bytes");
    bytes *= extent;
  }
  return box;
}

std::optional<Box> intersection(const Box& a, const Box& b) {
  Box both;
  both.dimensions = a.dimensions;
  for (unsigned d = 0; d < a.dimensions; ++d) {
    both.begin[d] = std::max(a.begin[d], b.begin[d]);
    both.end[d] = std::min(a.end[d], b.end[d]);
    if (both.begin[d] >= both.end[d]) return std::nullopt;
  }
  return both;
}

std::vector<Box> without(const Box& box, const Box& cut) {
  const auto inner = intersection(box, cut);
  if (!inner) return {box};
  std::vector<Box> outside;
  Box rest = box;  // shrinks to `inner`, one dimension after the other
  for (unsigned d = 0; d < box.dimensions; ++d) {
    Box side = rest;
    side.end[d] = inner->begin[d];
    if (side.begin[d] < side.end[d]) outside.push_back(side);
    side = rest;
    side.begin[d] = inner->end[d];
    if (side.begin[d] < side.end[d]) outside.push_back(side);
    rest.begin[d] = inner->begin[d];
    rest.end[d] = inner->end[d];
  }
  return outside;
}

Box widened(const Box& box, const Index& ghosts, const Box& within) {
  Box wide = box;
  for (unsigned d = 0; d < box.dimensions; ++d) {
    wide.begin[d] = box.begin[d] - std::min(box.begin[d] - within.begin[d], ghosts[d]);
    wide.end[d] = box.end[d] + std::min(within.end[d] - box.end[d], ghosts[d]);
  }
  return wide;
}

Box in_bytes(const Box& box, std::uint64_t element_bytes) {
  Box wide = box;
  wide.end[wide.dimensions++] = element_bytes;
  return wide;
}

namespace {

// Handles the elements for which the earlier dimensions are fixed.
void add_between(const Box& fixed, unsigned dimension, std::uint64_t first, std::uint64_t last,
                 std::vector<Box>& boxes) {
  if (first >= last) return;
  std::uint64_t each = 1;  // elements behind one index of this dimension
  for (unsigned d = dimension + 1; d < fixed.dimensions; ++d) each *= fixed.extent(d);
  const auto with = [&](std::uint64_t begin, std::uint64_t end) {
    Box box = fixed;
    box.begin[dimension] = fixed.begin[dimension] + begin;
    box.end[dimension] = fixed.begin[dimension] + end;
    return box;
  };
  std::uint64_t begin = first / each;
  const std::uint64_t end = last / each, head = first % each, tail = last % each;
  if (head != 0) {
    const std::uint64_t until = begin == end ? tail : each;
    add_between(with(begin, begin + 1), dimension + 1, head, until, boxes);
    if (begin == end) return;
    ++begin;
  }
  if (begin < end) boxes.push_back(with(begin, end));
  if (tail != 0) add_between(with(end, end + 1), dimension + 1, 0, tail, boxes);
}

}  // namespace

std::vector<Box> between(const Box& box, std::uint64_t first, std::uint64_t last) {
  std::vector<Box> boxes;
  if (box.empty()) return boxes;
  if (box.dimensions == 0) {
    if (first == 0 && last > 0) boxes.push_back(box);
    return boxes;
  }
  add_between(box, 0, first, last, boxes);
  return boxes;
}

}  // namespace perdure::array
