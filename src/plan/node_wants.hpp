#pragma once
// What the ranks of one node want of an array: of the boxes that all ranks stored a node keeps those that touch that.
// Pure. (docs/adr/0056)
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plan/resharding.hpp"

namespace perdure::plan {

class NodeWants {
 public:
  void add(WantedBox wanted) { wanted_.push_back(std::move(wanted)); }
  /// Before meets().
  void all_are_there();
  /// Whether some rank of the node needs elements of this box, which has as many dimensions.
  bool meets(const array::Box& stored) const;
  /// What there is; nothing is left of it.
  std::vector<WantedBox> take();
  /// Of memory that it takes.
  std::uint64_t bytes() const;

 private:
  std::vector<WantedBox> wanted_;
  array::BoxesAt boxes() const {
    return {wanted_.empty() ? nullptr : &wanted_[0].memory.box, sizeof(WantedBox), wanted_.size()};
  }
  std::optional<array::BoxTree> tree_;
};

}  // namespace perdure::plan
