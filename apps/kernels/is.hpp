#pragma once
#include "array.hpp"
#include "kernel.hpp"

namespace kernels {

/// Sorts integers by buckets. The keys of a step depend on the last step's sorted keys, so that a wrong key always has
/// effects. They are sums of four equal random numbers, so the middle buckets have more.
class IntegerSort final : public Kernel {
 public:
  using Key = std::uint32_t;
  static double bytes(double keys) { return keys * 2 * sizeof(Key); }
  explicit IntegerSort(std::int64_t keys);
  void step() override;
  /// Returns the sum of sorted keys weighted by their places.
  double norm() const override { return norm_; }
  std::string verify() override;
  void spoil() override { ++sorted_[count_ / 2]; }

 private:
  static constexpr unsigned kKeyBits = 18, kLowBits = 9;
  static constexpr std::int64_t kBuckets = 1 << (kKeyBits - kLowBits);
  static constexpr std::int64_t kPieces = 256;  // of the keys: no thread writes into another one's counts
  std::int64_t first_of(std::int64_t piece) const {
    return count_ / kPieces * piece + std::min(piece, count_ % kPieces);
  }
  void draw(std::int64_t piece);
  void place_pieces();
  void scatter(std::int64_t piece);
  void sort_bucket(std::int64_t bucket);
  double sum_by_places() const;

  std::int64_t count_, steps_ = 0;
  Array<Key> keys_, sorted_;
  Array<std::int64_t> places_;  // for each piece: its number of keys in each bucket, then the place of the next one
  Array<std::int64_t> bucket_starts_;  // and the end of the last one
  double norm_ = 0;
};

}  // namespace kernels
