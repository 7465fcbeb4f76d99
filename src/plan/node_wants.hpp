#pragma once
// Collects the boxes of an array that the ranks of one node want. A node keeps the stored boxes that touch them. Pure.
// (docs/adr/0056)
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plan/resharding.hpp"

namespace perdure::plan {

class NodeWants {
 public:
  void add(WantedBox wanted) { wanted_.push_back(std::move(wanted)); }
  /// Must be called before meets().
  void all_are_there();
  /// Whether some rank of the node needs elements of this box, which has as many dimensions.
  bool meets(const array::Box& stored) const;
  /// Returns all boxes, and keeps none.
  std::vector<WantedBox> take();
  /// Returns its memory in bytes.
  std::uint64_t bytes() const;

 private:
  std::vector<WantedBox> wanted_;
  array::BoxesAt boxes() const {
    return {wanted_.empty() ? nullptr : &wanted_[0].memory.box, sizeof(WantedBox), wanted_.size()};
  }
  std::optional<array::BoxTree> tree_;
};

}  // namespace perdure::plan
