#include "array/box_index.hpp"

#include <algorithm>
#include <numeric>

namespace perdure::array {
namespace {

constexpr std::size_t kInALeaf = 8;

// Returns twice the middle: below 2^64, as begin and end are below 2^63.
std::uint64_t middle(const Box& box, unsigned dimension) { return box.begin[dimension] + box.end[dimension]; }

}  // namespace

BoxTree::BoxTree(const BoxesAt& boxes) {
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (!boxes[i].empty()) order_.push_back(i);
  nodes_.push_back({});  // number 0 is nobody's child
  if (!order_.empty()) build(boxes, 0, order_.size());
  order_.shrink_to_fit();
  nodes_.shrink_to_fit();
}

std::uint64_t BoxTree::bytes() const {
  return order_.capacity() * sizeof(std::size_t) + nodes_.capacity() * sizeof(Node);
}

std::size_t BoxTree::build(const BoxesAt& boxes, std::size_t begin, std::size_t end) {
  Node node{boxes[order_[begin]], begin, end, 0, 0};
  for (std::size_t i = begin; i < end; ++i)
    for (unsigned d = 0; d < node.around.dimensions; ++d) {
      node.around.begin[d] = std::min(node.around.begin[d], boxes[order_[i]].begin[d]);
      node.around.end[d] = std::max(node.around.end[d], boxes[order_[i]].end[d]);
    }
  if (end - begin > kInALeaf) {
    // Halves the boxes in the dimension in which their middles are furthest apart.
    unsigned dimension = 0;
    std::uint64_t widest = 0;
    for (unsigned d = 0; d < node.around.dimensions; ++d) {
      const auto [least, most] = std::minmax_element(
          order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.begin() + static_cast<std::ptrdiff_t>(end),
          [&](std::size_t a, std::size_t b) { return middle(boxes[a], d) < middle(boxes[b], d); });
      const std::uint64_t width = middle(boxes[*most], d) - middle(boxes[*least], d);
      if (width > widest) widest = width, dimension = d;
    }
    const std::size_t half = begin + (end - begin) / 2;
    std::nth_element(
        order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.begin() + static_cast<std::ptrdiff_t>(half),
        order_.begin() + static_cast<std::ptrdiff_t>(end),
        [&](std::size_t a, std::size_t b) { return middle(boxes[a], dimension) < middle(boxes[b], dimension); });
    node.lower = build(boxes, begin, half);
    node.upper = build(boxes, half, end);
  } else {
    std::sort(order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.begin() + static_cast<std::ptrdiff_t>(end));
  }
  nodes_.push_back(node);
  return nodes_.size() - 1;
}

void BoxTree::meeting(const BoxesAt& boxes, const Box& box, const std::function<void(std::size_t)>& found) const {
  if (order_.empty()) return;
  std::vector<std::size_t> next{nodes_.size() - 1};
  while (!next.empty()) {
    const Node& node = nodes_[next.back()];
    next.pop_back();
    if (!intersection(node.around, box)) continue;
    if (node.lower != 0) {
      next.push_back(node.upper);
      next.push_back(node.lower);
      continue;
    }
    for (std::size_t i = node.begin; i < node.end; ++i)
      if (intersection(boxes[order_[i]], box)) found(order_[i]);
  }
}

}  // namespace perdure::array
