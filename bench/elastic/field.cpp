#include "field.hpp"

#include <algorithm>

#include "array/distribution.hpp"

namespace perdure::elastic_bench {
namespace {

array::Box all_of(const std::vector<std::uint64_t>& extents) {
  array::Box whole{static_cast<unsigned>(extents.size()), {}, {}};
  std::copy(extents.begin(), extents.end(), whole.end.begin());
  return whole;
}

}  // namespace

Field::Field(std::vector<std::uint64_t> extents, int ranks, int rank)
    : extents_(std::move(extents)), whole_(all_of(extents_)) {
  mine_ = array::block(whole_, array::even_grid(whole_, static_cast<std::uint64_t>(ranks)),
                       static_cast<std::uint64_t>(rank));
  values_.resize(mine_.empty() ? 0 : mine_.elements());
}

perdure_array Field::declaration() const {
  perdure_array array{};
  array.name = "field";
  array.type = "f8";
  array.dimensions = static_cast<int>(extents_.size());
  array.extents = extents_.data();
  return array;
}

template <class Use>
void Field::each_row(Use use) const {
  const unsigned last = mine_.dimensions - 1;
  const std::uint64_t row = mine_.extent(last);
  for (std::uint64_t at = 0; at < values_.size(); at += row) {
    std::uint64_t rest = at / row, number = mine_.begin[last], step = whole_.extent(last);
    for (unsigned d = last; d > 0; --d) {
      number += (mine_.begin[d - 1] + rest % mine_.extent(d - 1)) * step;
      rest /= mine_.extent(d - 1);
      step *= whole_.extent(d - 1);
    }
    use(at, row, number);
  }
}

void Field::fill() {
  each_row([&](std::uint64_t at, std::uint64_t count, std::uint64_t number) {
    for (std::uint64_t i = 0; i < count; ++i) values_[at + i] = static_cast<double>(number + i);
  });
}

void Field::wipe() { std::fill(values_.begin(), values_.end(), -1); }

std::uint64_t Field::wrong() const {
  std::uint64_t wrong = 0;
  each_row([&](std::uint64_t at, std::uint64_t count, std::uint64_t number) {
    for (std::uint64_t i = 0; i < count; ++i) wrong += values_[at + i] != static_cast<double>(number + i) ? 1 : 0;
  });
  return wrong;
}

}  // namespace perdure::elastic_bench
