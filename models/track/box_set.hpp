#pragma once
// Boxes of indices, and sets of them: which elements of a data set were written, are read, or are not decided yet.
// Pure.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace perdure::track {

inline constexpr unsigned kMostDimensions = 5;

/// The elements whose index is at least `begin` and below `end` in each dimension; halos have negative indices. Without
/// dimensions it is one element: a scalar.
struct Box {
  unsigned dimensions = 0;
  std::array<std::int64_t, kMostDimensions> begin{}, end{};
  bool empty() const;
  /// Below 2^63 for what declare() of a tracker took.
  std::uint64_t elements() const;
  bool contains(const Box& other) const;
  std::string text() const;  ///< "[-2:100, 0:40]"
  friend bool operator==(const Box&, const Box&) = default;
};

/// What is in both, which have as many dimensions; may be empty.
Box intersection(const Box& a, const Box& b);

/// Elements, each once, as disjoint boxes of as many dimensions. Allocates only when it has more boxes than ever.
class BoxSet {
 public:
  bool empty() const { return boxes_.empty(); }
  std::uint64_t elements() const;
  std::span<const Box> boxes() const { return boxes_; }
  bool covers(const Box& box) const;
  bool meets(const Box& box) const;
  void add(const Box& box);
  void remove(const Box& box);
  /// Takes out what it shares with `box`: calls `take(Box)` for each part of that.
  template <class Take>
  void extract(const Box& box, Take&& take) {
    for (const Box& one : boxes_)
      if (const Box shared = intersection(one, box); !shared.empty()) take(shared);
    remove(box);
  }
  void clear() { boxes_.clear(); }
  friend bool operator==(const BoxSet& a, const BoxSet& b);  ///< the same elements

 private:
  void join();
  std::vector<Box> boxes_, parts_;
};

}  // namespace perdure::track
