#pragma once
// Stores ascending numbers as runs of equal distance. The ranks of a node are one run each, however many they are, in
// blocks (0, 1, 2 ...) or dealt out (0, 8, 16 ...). Two arbitrary numbers make a run, which takes half as much
// memory again as the numbers.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"

namespace perdure::base {

template <class T>
class Runs {
 public:
  struct Run {
    T first = 0, step = 0, count = 0;
    T at(T index) const { return static_cast<T>(first + step * index); }
    friend bool operator==(const Run&, const Run&) = default;
    PERDURE_FIELDS(first, step, count)
    std::string wrong() const {
      const bool fits =
          count > 0 && (step == 0 ? count == 1 : count - 1 <= (std::numeric_limits<T>::max() - first) / step);
      return fits ? "" : "field 'count' is none of a run";
    }
  };

  Runs() = default;
  /// `numbers` must ascend.
  explicit Runs(const std::vector<T>& numbers) {
    for (const T number : numbers) add(number);
    runs_.shrink_to_fit();
  }
  /// Appends a number, which must be greater than all before.
  void add(T number) {
    if (!runs_.empty()) {
      Run& last = runs_.back();
      if (last.count == 1) last.step = static_cast<T>(number - last.first);
      if (last.at(last.count) == number) {
        ++last.count;
        return;
      }
    }
    runs_.push_back({number, 0, 1});
  }
  bool empty() const { return runs_.empty(); }
  std::uint64_t size() const {
    std::uint64_t sum = 0;
    for (const Run& run : runs_) sum += run.count;
    return sum;
  }
  std::size_t runs() const { return runs_.size(); }
  bool contains(T number) const {
    for (const Run& run : runs_)
      if (number >= run.first && number <= run.at(run.count - 1))
        return run.step == 0 || (number - run.first) % run.step == 0;
    return false;
  }
  template <class Take>
  void for_each(const Take& take) const {
    for (const Run& run : runs_)
      for (T i = 0; i < run.count; ++i) take(run.at(i));
  }
  std::vector<T> list() const {
    std::vector<T> numbers;
    numbers.reserve(size());
    for_each([&](T number) { numbers.push_back(number); });
    return numbers;
  }
  friend bool operator==(const Runs&, const Runs&) = default;
  PERDURE_FIELDS(runs_)
  /// Returns the defect of decoded runs, or "": they do not ascend, or are more than could be told one by one.
  std::string wrong() const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      count += runs_[i].count;
      if (i > 0 && runs_[i].first <= runs_[i - 1].at(runs_[i - 1].count - 1)) return "field 'runs_' does not ascend";
    }
    return count <= kMost ? "" : "field 'runs_' has too many numbers";
  }

 private:
  static constexpr std::uint64_t kMost = 4U << 20;
  std::vector<Run> runs_;
};

}  // namespace perdure::base
