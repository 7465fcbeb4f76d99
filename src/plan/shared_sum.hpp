#pragma once
// Checks that all ranks have equal values in the elements that two of them share. Each rank needs only a few words,
// however many ranks and seams there are. Pure.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/hash.hpp"

namespace perdure::plan {

/// Both ranks of each pair add each box that they share: the lower rank adds it, the higher one subtracts it. So the
/// sum of all ranks' words is zero if all are equal. They add a hash of the box's hash and of its place. Two
/// differences cancel as rarely as two hashes of 128 bits are equal.
class SharedSum {
 public:
  static constexpr std::size_t kWords = 4;  ///< of 32 bits, so that sums of 2^31 ranks do not overflow
  using Words = std::array<std::uint64_t, kWords>;
  struct Box {
    std::int32_t array = 0;
    std::uint64_t lower = 0, higher = 0;  ///< ranks
    std::uint64_t number = 0;             ///< among those of this pair and array, in an order that both know
  };
  /// `hash` is that of this rank's values.
  void add(const Box& box, const base::Hash128& hash, bool is_lower);
  Words words() const { return words_; }
  /// `sums` are those of all ranks' words.
  static bool all_equal(std::span<const std::uint64_t, kWords> sums);

 private:
  Words words_{};
};

}  // namespace perdure::plan
