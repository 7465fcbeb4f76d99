#pragma once
// Finds those of many boxes that meet another one, without visiting all. Pure.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "array/box.hpp"

namespace perdure::array {

/// Boxes of others that lie in memory at equal distances, as members of structures do.
class BoxesAt {
 public:
  BoxesAt(const Box* first, std::size_t stride_bytes, std::size_t count)
      : first_(reinterpret_cast<const std::byte*>(first)), stride_(stride_bytes), count_(count) {}
  explicit BoxesAt(const std::vector<Box>& boxes) : BoxesAt(boxes.data(), sizeof(Box), boxes.size()) {}
  std::size_t size() const { return count_; }
  const Box& operator[](std::size_t number) const { return *reinterpret_cast<const Box*>(first_ + number * stride_); }

 private:
  const std::byte* first_;
  std::size_t stride_, count_;
};

/// A tree of halves, each with its bounding box. It takes some 60 bytes for each box, and is built in n log n. It does
/// not keep the boxes: each caller passes the same ones.
class BoxTree {
 public:
  explicit BoxTree(const BoxesAt& boxes);
  /// Calls `found` with the number of every box that shares an element with `box`, ascending within a leaf.
  void meeting(const BoxesAt& boxes, const Box& box, const std::function<void(std::size_t number)>& found) const;
  /// Returns its memory in bytes.
  std::uint64_t bytes() const;

 private:
  struct Node {
    Box around;
    std::size_t begin = 0, end = 0;    // in order_
    std::size_t lower = 0, upper = 0;  // children; 0: a leaf
  };
  std::size_t build(const BoxesAt& boxes, std::size_t begin, std::size_t end);

  std::vector<std::size_t> order_;
  std::vector<Node> nodes_;  // the root is the last
};

/// A tree that owns its boxes.
class BoxIndex {
 public:
  explicit BoxIndex(std::vector<Box> boxes) : boxes_(std::move(boxes)), tree_(BoxesAt(boxes_)) {}
  const std::vector<Box>& boxes() const { return boxes_; }
  void meeting(const Box& box, const std::function<void(std::size_t number)>& found) const {
    tree_.meeting(BoxesAt(boxes_), box, found);
  }
  /// Returns its memory in bytes.
  std::uint64_t bytes() const { return boxes_.capacity() * sizeof(Box) + tree_.bytes(); }

 private:
  std::vector<Box> boxes_;
  BoxTree tree_;
};

}  // namespace perdure::array
