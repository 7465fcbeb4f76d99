#include "is.hpp"

#include <array>
#include <vector>

#include "random.hpp"

namespace kernels {

IntegerSort::IntegerSort(std::int64_t keys)
    : count_(keys),
      keys_((keys + kPieces - 1) / kPieces, kPieces),
      sorted_((keys + kPieces - 1) / kPieces, kPieces),
      places_(kPieces, kBuckets),
      bucket_starts_(kBuckets + 1, 1) {}

void IntegerSort::step() {
  ++steps_;
  each(kPieces, [&](std::int64_t piece) { draw(piece); });
  place_pieces();
  each(kPieces, [&](std::int64_t piece) { scatter(piece); });
  each(kBuckets, [&](std::int64_t bucket) { sort_bucket(bucket); });
  norm_ = sum_by_places();
}

void IntegerSort::draw(std::int64_t piece) {
  std::int64_t* counts = places_.row(piece);
  std::fill_n(counts, kBuckets, 0);
  for (std::int64_t i = first_of(piece); i < first_of(piece + 1); ++i) {
    const std::uint64_t bits = random_bits(4000 + steps_, i * (1 << kKeyBits) + sorted_[i]);
    const auto key = (bits & 0xffff) + (bits >> 16U & 0xffff) + (bits >> 32U & 0xffff) + (bits >> 48U);
    keys_[i] = static_cast<Key>(key);
    ++counts[key >> kLowBits];
  }
}

// In a bucket the keys of a piece follow those of the pieces before it.
void IntegerSort::place_pieces() {
  std::int64_t next = 0;
  for (std::int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    bucket_starts_[bucket] = next;
    for (std::int64_t piece = 0; piece < kPieces; ++piece) {
      std::int64_t& place = places_.row(piece)[bucket];
      const std::int64_t count = place;
      place = next;
      next += count;
    }
  }
  bucket_starts_[kBuckets] = next;
}

void IntegerSort::scatter(std::int64_t piece) {
  std::int64_t* places = places_.row(piece);
  for (std::int64_t i = first_of(piece); i < first_of(piece + 1); ++i)
    sorted_[places[keys_[i] >> kLowBits]++] = keys_[i];
}

// There are only keys, so each is written as often as it was counted.
void IntegerSort::sort_bucket(std::int64_t bucket) {
  std::array<std::int64_t, 1 << kLowBits> counts{};
  const std::int64_t begin = bucket_starts_[bucket], end = bucket_starts_[bucket + 1];
  for (std::int64_t i = begin; i < end; ++i) ++counts[sorted_[i] & ((1U << kLowBits) - 1)];
  std::int64_t next = begin;
  for (std::size_t low = 0; low < counts.size(); ++low)
    for (std::int64_t i = 0; i < counts[low]; ++i)
      sorted_[next++] = static_cast<Key>(static_cast<std::size_t>(bucket) << kLowBits | low);
}

// Places wrap around at 8191, so that the sum of a piece has far less than 64 bits.
double IntegerSort::sum_by_places() const {
  return sum(kPieces, [&](std::int64_t piece) {
    std::uint64_t all = 0;
    for (std::int64_t i = first_of(piece); i < first_of(piece + 1); ++i)
      all += static_cast<std::uint64_t>(i % 8191 + 1) * sorted_[i];
    return static_cast<double>(all);
  });
}

std::string IntegerSort::verify() {
  const double disordered = sum(kPieces, [&](std::int64_t piece) {
    double count = 0;
    for (std::int64_t i = std::max<std::int64_t>(1, first_of(piece)); i < first_of(piece + 1); ++i)
      count += sorted_[i - 1] > sorted_[i];
    return count;
  });
  if (disordered > 0) return "keys are not in order";
  std::vector<std::int64_t> left(1U << kKeyBits);
  for (std::int64_t i = 0; i < count_; ++i) {
    if (keys_[i] >> kKeyBits != 0 || sorted_[i] >> kKeyBits != 0) return "a key is too large";
    ++left[keys_[i]];
    --left[sorted_[i]];
  }
  for (std::size_t key = 0; key < left.size(); ++key)
    if (left[key] != 0) return "key " + std::to_string(key) + " is not there as often as before";
  if (sum_by_places() != norm_) return "the sum of keys by places has changed";
  return "";
}

}  // namespace kernels
