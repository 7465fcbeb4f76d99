#include "plan/node_wants.hpp"

namespace perdure::plan {

void NodeWants::all_are_there() {
  wanted_.shrink_to_fit();
  tree_.emplace(boxes());
}

bool NodeWants::meets(const array::Box& stored) const {
  bool met = false;
  if (tree_) tree_->meeting(boxes(), stored, [&](std::size_t) { met = true; });
  return met;
}

std::vector<WantedBox> NodeWants::take() {
  tree_.reset();
  return std::exchange(wanted_, {});
}

std::uint64_t NodeWants::bytes() const { return wanted_.capacity() * sizeof(WantedBox) + (tree_ ? tree_->bytes() : 0); }

}  // namespace perdure::plan
