#pragma once
#include <array>

#include "array.hpp"
#include "kernel.hpp"

namespace kernels {

/// Makes pairs of normal random numbers from uniform ones, by Marsaglia's polar method. Each step stores a new batch,
/// counts it by rings, and adds it to the sums. The k-th ring has k <= max(|x|, |y|) < k + 1.
class RandomPairs final : public Kernel {
 public:
  static double bytes(double pairs) { return pairs * sizeof(Pair); }
  explicit RandomPairs(std::int64_t pairs);
  void step() override;
  /// Returns the length of the sum of all pairs.
  double norm() const override;
  std::string verify() override;
  void spoil() override { ++counts_[1]; }

 private:
  static constexpr std::size_t kRings = 10;
  static constexpr std::int64_t kPairsOfBlock = 4096;
  struct Pair {
    double x, y;  // both 0 if the drawn pair is outside the circle
  };
  /// Sums over the pairs of a block, or of all blocks.
  struct Sums {
    double x, y, squares;
    std::int64_t accepted;
    std::array<std::int64_t, kRings> counts;
  };
  Pair pair(std::int64_t number) const;
  Sums sums_of_block(std::int64_t block) const;
  std::string compare_counts(double accepted) const;

  std::int64_t pairs_, blocks_, batch_ = 0;
  Array<Pair> batch_pairs_;
  Array<Sums> block_sums_;
  double sum_x_ = 0, sum_y_ = 0, squares_ = 0;
  std::int64_t accepted_ = 0;
  std::array<std::int64_t, kRings> counts_{};
};

}  // namespace kernels
