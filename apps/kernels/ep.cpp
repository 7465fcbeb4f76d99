#include "ep.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

#include "random.hpp"

namespace kernels {
namespace {

// Standard deviations of sums of random numbers. One run in 500 million exceeds this.
constexpr double kDeviations = 6;

}  // namespace

RandomPairs::RandomPairs(std::int64_t pairs)
    : pairs_(pairs),
      blocks_((pairs + kPairsOfBlock - 1) / kPairsOfBlock),
      batch_pairs_(blocks_, kPairsOfBlock),
      block_sums_(blocks_, 1) {}

RandomPairs::Pair RandomPairs::pair(std::int64_t number) const {
  const double x = random_signed(3000, 2 * number), y = random_signed(3000, 2 * number + 1);
  const double square = x * x + y * y;
  if (square >= 1 || square == 0) return {0, 0};
  const double longer = std::sqrt(-2 * std::log(square) / square);
  return {x * longer, y * longer};
}

RandomPairs::Sums RandomPairs::sums_of_block(std::int64_t block) const {
  Sums sums{};
  const std::int64_t end = std::min(pairs_, (block + 1) * kPairsOfBlock);
  for (std::int64_t i = block * kPairsOfBlock; i < end; ++i) {
    const Pair& one = batch_pairs_[i];
    if (one.x == 0 && one.y == 0) continue;
    ++sums.accepted;
    sums.x += one.x;
    sums.y += one.y;
    sums.squares += one.x * one.x + one.y * one.y;
    ++sums.counts[static_cast<std::size_t>(std::max(std::abs(one.x), std::abs(one.y)))];
  }
  return sums;
}

void RandomPairs::step() {
  each(blocks_, [&](std::int64_t block) {
    const std::int64_t end = std::min(pairs_, (block + 1) * kPairsOfBlock);
    for (std::int64_t i = block * kPairsOfBlock; i < end; ++i) batch_pairs_[i] = pair(batch_ * pairs_ + i);
    block_sums_[block] = sums_of_block(block);
  });
  for (std::int64_t block = 0; block < blocks_; ++block) {
    const Sums& sums = block_sums_[block];
    sum_x_ += sums.x;
    sum_y_ += sums.y;
    squares_ += sums.squares;
    accepted_ += sums.accepted;
    for (std::size_t ring = 0; ring < kRings; ++ring) counts_[ring] += sums.counts[ring];
  }
  ++batch_;
}

double RandomPairs::norm() const { return std::hypot(sum_x_, sum_y_); }

std::string RandomPairs::compare_counts(double accepted) const {
  const auto within = [](double edge) { return std::pow(std::erf(edge / std::numbers::sqrt2), 2); };
  if (std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}) != accepted_) return "a pair is in no ring";
  for (std::size_t ring = 0; ring < kRings; ++ring) {
    const double share = within(static_cast<double>(ring) + 1) - within(static_cast<double>(ring));
    const double away = std::abs(static_cast<double>(counts_[ring]) - share * accepted);
    if (!(away <= kDeviations * std::sqrt(share * accepted) + 3))  // 3: for rings with an expected count below one
      return "ring " + std::to_string(ring) + " has " + std::to_string(counts_[ring]) + " pairs, which is unlikely";
  }
  return "";
}

// Draws the last batch again; compares earlier ones with the known statistics of such numbers.
std::string RandomPairs::verify() {
  const double others = sum(blocks_, [&](std::int64_t block) {
    double count = 0;
    const std::int64_t end = std::min(pairs_, (block + 1) * kPairsOfBlock);
    for (std::int64_t i = block * kPairsOfBlock; i < end; ++i) {
      const Pair again = pair((batch_ - 1) * pairs_ + i);
      count += again.x != batch_pairs_[i].x || again.y != batch_pairs_[i].y;
    }
    return count;
  });
  if (others > 0) return "pairs of the last batch are not those that were drawn";
  const double drawn = static_cast<double>(batch_ * pairs_), quarter = std::numbers::pi / 4;
  const double accepted = static_cast<double>(accepted_);
  if (!(std::abs(accepted - quarter * drawn) <= kDeviations * std::sqrt(drawn * quarter * (1 - quarter))))
    return "the circle has not pi / 4 of the pairs";
  if (!(std::max(std::abs(sum_x_), std::abs(sum_y_)) <= kDeviations * std::sqrt(accepted))) return "the mean is not 0";
  if (!(std::abs(squares_ - 2 * accepted) <= kDeviations * std::sqrt(4 * accepted))) return "the variance is not 1";
  return compare_counts(accepted);
}

}  // namespace kernels
