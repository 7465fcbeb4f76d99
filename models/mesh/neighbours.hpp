#pragma once
// Names the neighbours of a part in a grid of parts, those beside it and the diagonal ones. Pure.
#include <array>
#include <cstddef>
#include <cstdint>

#include "mesh/division.hpp"

namespace perdure::mesh {

/// A set of the up to 26 neighbours of a part, by direction. The same set is meaningful for all parts.
class Neighbours {
 public:
  /// In one dimension: on which sides of a part something lies.
  struct Extent {
    bool below = false, within = false, above = false;
    /// Adds the interval from `begin` to before `end`, inside of the part and of those next to it.
    void add(std::int64_t begin, std::int64_t end, const std::array<std::int64_t, 2>& part) {
      below = below || begin < part[0];
      within = within || (begin < part[1] && end > part[0]);
      above = above || end > part[1];
    }
  };
  using Extents = std::array<Extent, kMostBlockDimensions>;
  /// Lies within the part in each dimension.
  static constexpr Extents within() { return {Extent{false, true}, Extent{false, true}, Extent{false, true}}; }

  Neighbours() = default;
  /// The set of neighbours that these extents touch.
  explicit Neighbours(const Extents& extents) : met_(kAll) {
    for (unsigned d = 0; d < kMostBlockDimensions; ++d)
      met_ &= (extents[d].below ? kWith[d][0] : 0U) | (extents[d].within ? kWith[d][1] : 0U) |
              (extents[d].above ? kWith[d][2] : 0U);
  }
  static Neighbours all() { return Neighbours(kAll); }

  bool empty() const { return met_ == 0; }
  bool has(std::size_t number) const { return (met_ >> number & 1U) != 0; }
  friend bool operator==(const Neighbours&, const Neighbours&) = default;
  friend Neighbours operator|(Neighbours a, Neighbours b) { return Neighbours(a.met_ | b.met_); }
  friend Neighbours operator&(Neighbours a, Neighbours b) { return Neighbours(a.met_ & b.met_); }
  /// The neighbours in `a` that are not in `b`.
  friend Neighbours operator-(Neighbours a, Neighbours b) { return Neighbours(a.met_ & ~b.met_); }

  /// The number of directions, the middle one included, which leads nowhere.
  static constexpr std::size_t kDirections = 27;
  static Direction direction(std::size_t number) {
    const auto all = static_cast<int>(number);
    return {all % 3 - 1, all / 3 % 3 - 1, all / 9 - 1};
  }
  /// The number of the opposite direction.
  static std::size_t opposite(std::size_t number) { return kDirections - 1 - number; }

 private:
  explicit Neighbours(std::uint32_t met) : met_(met) {}

  static constexpr std::uint32_t kAll = ((1U << kDirections) - 1) & ~(1U << kDirections / 2);
  // For each dimension, the sets of directions that lead down, nowhere and up.
  static constexpr auto kWith = [] {
    std::array<std::array<std::uint32_t, 3>, kMostBlockDimensions> with{};
    for (std::size_t number = 0; number < kDirections; ++number) {
      const std::size_t steps[] = {number % 3, number / 3 % 3, number / 9};
      for (unsigned d = 0; d < kMostBlockDimensions; ++d) with[d][steps[d]] |= 1U << number;
    }
    return with;
  }();

  std::uint32_t met_ = 0;
};

}  // namespace perdure::mesh
