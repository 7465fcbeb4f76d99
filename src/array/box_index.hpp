#pragma once
// Which of many boxes meet another one, without going through all. Pure.
#include <cstddef>
#include <functional>
#include <vector>

#include "array/box.hpp"

namespace perdure::array {

/// A tree of halves, each with the box around it. Some 200 bytes for each box; built in n log n.
class BoxIndex {
 public:
  explicit BoxIndex(std::vector<Box> boxes);
  const std::vector<Box>& boxes() const { return boxes_; }
  /// Calls `found` with the number of every box that shares an element with `box`, ascending within a leaf.
  void meeting(const Box& box, const std::function<void(std::size_t number)>& found) const;

 private:
  struct Node {
    Box around;
    std::size_t begin = 0, end = 0;    // in order_
    std::size_t lower = 0, upper = 0;  // children; 0: a leaf
  };
  std::size_t build(std::size_t begin, std::size_t end);

  std::vector<Box> boxes_;
  std::vector<std::size_t> order_;
  std::vector<Node> nodes_;  // the root is the last
};

}  // namespace perdure::array
