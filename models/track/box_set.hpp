#pragma once
// Implements sets of boxes of indices: which elements of a data set were written, are read, or are undecided. Pure.
#include <cstdint>
#include <span>
#include <vector>

#include "track/box.hpp"

namespace perdure::track {

/// A set of elements, as disjoint boxes of equal dimensions. Allocates only when it has more boxes than ever before.
class BoxSet {
 public:
  bool empty() const { return boxes_.empty(); }
  std::uint64_t elements() const;
  std::span<const Box> boxes() const { return boxes_; }
  bool covers(const Box& box) const;
  bool meets(const Box& box) const;
  void add(const Box& box);
  void remove(const Box& box);
  /// Removes the elements of `box`, and calls `take(Box)` for each part that it removed.
  template <class Take>
  void extract(const Box& box, Take&& take) {
    for (const Box& one : boxes_)
      if (const Box shared = intersection(one, box); !shared.empty()) take(shared);
    remove(box);
  }
  void clear() { boxes_.clear(); }
  friend bool operator==(const BoxSet& a, const BoxSet& b);  ///< compares elements, not boxes

 private:
  void join();
  std::vector<Box> boxes_, parts_;
};

}  // namespace perdure::track
