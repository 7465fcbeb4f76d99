#include "plan/shared_sum.hpp"

#include <algorithm>

namespace perdure::plan {
namespace {

constexpr std::uint64_t kWord = 0xffff'ffff;

}  // namespace

void SharedSum::add(const Box& box, const base::Hash128& hash, bool is_lower) {
  const std::uint64_t said[] = {
      static_cast<std::uint32_t>(box.array), box.lower, box.higher, box.number, hash.low, hash.high};
  const base::Hash128 mixed = base::hash128(std::as_bytes(std::span(said)));
  const std::uint64_t parts[kWords] = {mixed.low & kWord, mixed.low >> 32U, mixed.high & kWord, mixed.high >> 32U};
  for (std::size_t i = 0; i < kWords; ++i) words_[i] = (is_lower ? words_[i] + parts[i] : words_[i] - parts[i]) & kWord;
}

bool SharedSum::all_equal(std::span<const std::uint64_t, kWords> sums) {
  return std::all_of(sums.begin(), sums.end(), [](std::uint64_t sum) { return (sum & kWord) == 0; });
}

}  // namespace perdure::plan
