#include "array/cover.hpp"

#include <algorithm>

namespace perdure::array {
namespace {

struct Cut {
  unsigned dimension = 0;
  std::uint64_t at = 0;
};

class Search {
 public:
  Search(const std::vector<Owned>& owned, std::size_t most) : owned_(owned), most_(most) {}
  void look(const Box& part, const std::vector<std::uint32_t>& touching);
  Cover take() { return std::move(found_); }

 private:
  void missing(const Box& part);
  void shared(const Box& part, const std::vector<std::uint32_t>& owners);
  std::optional<Cut> cut(const Box& part, const std::vector<std::uint32_t>& touching) const;

  const std::vector<Owned>& owned_;
  std::size_t most_;
  Cover found_;
};

void Search::missing(const Box& part) {
  if (!found_.hole || part.begin < found_.hole->begin) found_.hole = part;
}

void Search::shared(const Box& part, const std::vector<std::uint32_t>& owners) {
  for (std::size_t i = 1; i < owners.size(); ++i) {
    if (found_.overlaps.size() == most_) {
      found_.all_overlaps = false;
      return;
    }
    const auto first = owned_[owners[0]].rank, before = owned_[owners[i - 1]].rank, rank = owned_[owners[i]].rank;
    found_.overlaps.push_back({part, before == rank ? rank : first, rank});  // one rank's own come next to each other
  }
}

// Cuts in the dimension with most edges of boxes inside of the part, at the median edge.
std::optional<Cut> Search::cut(const Box& part, const std::vector<std::uint32_t>& touching) const {
  std::vector<std::uint64_t> best, edges;
  unsigned dimension = 0;
  for (unsigned d = 0; d < part.dimensions; ++d) {
    edges.clear();
    for (const std::uint32_t i : touching)
      for (const std::uint64_t edge : {owned_[i].box.begin[d], owned_[i].box.end[d]})
        if (edge > part.begin[d] && edge < part.end[d]) edges.push_back(edge);
    if (edges.size() <= best.size()) continue;
    best.swap(edges);
    dimension = d;
  }
  if (best.empty()) return std::nullopt;
  const auto middle = best.begin() + static_cast<std::ptrdiff_t>(best.size() / 2);
  std::nth_element(best.begin(), middle, best.end());
  return Cut{dimension, *middle};
}

void Search::look(const Box& part, const std::vector<std::uint32_t>& touching) {
  if (!found_.all_overlaps) return;
  if (touching.empty()) return missing(part);
  const auto where = cut(part, touching);
  if (!where) return shared(part, touching);  // every box that touches it has all of it
  Box below = part, above = part;
  below.end[where->dimension] = above.begin[where->dimension] = where->at;
  for (const Box& half : {below, above}) {
    std::vector<std::uint32_t> touching_half;
    for (const std::uint32_t i : touching)
      if (owned_[i].box.begin[where->dimension] < half.end[where->dimension] &&
          owned_[i].box.end[where->dimension] > half.begin[where->dimension])
        touching_half.push_back(i);
    look(half, touching_half);
  }
}

}  // namespace

Cover cover(const Box& whole, const std::vector<Owned>& owned, std::size_t most_overlaps) {
  if (whole.empty()) return {};
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < owned.size(); ++i)
    if (!owned[i].box.empty()) all.push_back(i);
  Search search(owned, most_overlaps);
  search.look(whole, all);
  return search.take();
}

}  // namespace perdure::array
