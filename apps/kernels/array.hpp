#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "threads.hpp"

namespace kernels {

/// An array of `rows` rows of `row` elements each, without gaps. The threads that have the rows in each(rows, ...) set
/// them to 0, and so touch their memory first.
template <class T>
class Array {
 public:
  Array(std::int64_t rows, std::int64_t row)
      : row_(row), size_(rows * row), values_(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(size_))) {
    clear();
  }
  void clear() {
    each(size_ / row_, [this](std::int64_t r) { std::fill_n(values_.get() + r * row_, row_, T{}); });
  }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) { return values_[static_cast<std::size_t>(i)]; }
  const T& operator[](std::int64_t i) const { return values_[static_cast<std::size_t>(i)]; }
  T* row(std::int64_t r) { return values_.get() + r * row_; }
  const T* row(std::int64_t r) const { return values_.get() + r * row_; }

 private:
  std::int64_t row_, size_;
  std::unique_ptr<T[]> values_;
};

}  // namespace kernels
