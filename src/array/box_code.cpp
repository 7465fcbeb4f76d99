#include "array/box_code.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace perdure::array {
namespace {

/// `count` intervals of one length, at equal distances.
struct Run {
  std::uint64_t begin = 0, length = 0, count = 0, step = 0;
};
struct Interval {
  std::uint64_t begin = 0, end = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

void put(std::vector<std::byte>& bytes, std::uint64_t value) {
  for (; value >= 128; value >>= 7) bytes.push_back(static_cast<std::byte>(value | 128));
  bytes.push_back(static_cast<std::byte>(value));
}

class Numbers {
 public:
  explicit Numbers(base::ConstByteSpan bytes) : bytes_(bytes) {}
  bool done() const { return at_ == bytes_.size(); }
  std::optional<std::uint64_t> take() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !done(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_[at_++]);
      if (shift == 63 && byte > 1) return std::nullopt;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    return std::nullopt;
  }

 private:
  base::ConstByteSpan bytes_;
  std::size_t at_ = 0;
};

std::vector<Run> runs_of(const std::vector<Interval>& intervals) {
  std::vector<Run> runs;
  for (const auto& [begin, end] : intervals) {
    if (!runs.empty()) {
      Run& last = runs.back();
      const std::uint64_t previous = last.begin + (last.count - 1) * last.step;
      if (last.length == end - begin && begin > previous && (last.count == 1 || begin - previous == last.step)) {
        last.step = begin - previous;
        ++last.count;
        continue;
      }
    }
    runs.push_back({begin, end - begin, 1, 0});
  }
  return runs;
}

using Product = std::array<std::vector<Interval>, kMostDimensions>;  // of each dimension

/// Returns how many boxes from `first` on are a product of intervals, the last dimension fastest, and that product.
std::size_t longest_product(const std::vector<Box>& boxes, std::size_t first, Product& product) {
  const unsigned dimensions = boxes[first].dimensions;
  const auto interval = [&](std::size_t box, unsigned d) { return Interval{boxes[box].begin[d], boxes[box].end[d]}; };
  std::size_t have = 1;  // boxes that are a product already
  for (unsigned d = 0; d < dimensions; ++d) product[d] = {interval(first, d)};
  for (unsigned d = dimensions; d > 0; --d) {
    // Appends following copies of the present boxes that differ in this dimension only.
    auto& intervals = product[d - 1];
    const std::size_t block = have;
    for (; first + have + block <= boxes.size(); have += block) {
      const Interval next = interval(first + have, d - 1);
      bool same = next != intervals.back();
      for (std::size_t i = 0; i < block && same; ++i)
        for (unsigned e = 0; e < dimensions && same; ++e)
          same = interval(first + have + i, e) == (e == d - 1 ? next : interval(first + i, e));
      if (!same) break;
      intervals.push_back(next);
    }
  }
  return have;
}

base::Error wrong(const std::string& object, const std::string& what) {
  return {PERDURE_CORRUPT, object, what, "", false};
}

base::Result<std::vector<Interval>> read_intervals(Numbers& numbers, const Box& whole, unsigned d, std::size_t most,
                                                   const std::string& object) {
  std::vector<Interval> intervals;
  const auto runs = numbers.take();
  if (!runs || *runs == 0 || *runs > most) return base::fail(wrong(object, "its boxes end too early, or are too many"));
  for (std::uint64_t r = 0; r < *runs; ++r) {
    const auto begin = numbers.take(), length = numbers.take(), count = numbers.take();
    const auto step = count && *count > 1 ? numbers.take() : std::optional<std::uint64_t>(0);
    if (!begin || !length || !count || !step) return base::fail(wrong(object, "its boxes end too early"));
    const std::uint64_t extent = whole.end[d];
    bool good =
        *length > 0 && *count > 0 && *count <= most - intervals.size() && *begin < extent && *length <= extent - *begin;
    if (good && *count > 1) good = *step > 0 && *step <= (extent - *begin - *length) / (*count - 1);
    if (!good) return base::fail(wrong(object, "it has a box that is not inside of the array"));
    for (std::uint64_t i = 0; i < *count; ++i) {
      const std::uint64_t at = *begin + i * *step;
      intervals.push_back({at, at + *length});
    }
  }
  return intervals;
}

}  // namespace

std::vector<std::byte> encode_boxes(const std::vector<Box>& boxes) {
  std::vector<std::byte> bytes;
  Product product;
  for (std::size_t first = 0; first < boxes.size();) {
    first += longest_product(boxes, first, product);
    const unsigned dimensions = boxes.front().dimensions;
    if (dimensions == 0) put(bytes, 1);  // a scalar's one box takes a byte, so that it can be counted
    for (unsigned d = 0; d < dimensions; ++d) {
      const auto runs = runs_of(product[d]);
      put(bytes, runs.size());
      for (const Run& run : runs) {
        for (const std::uint64_t number : {run.begin, run.length, run.count}) put(bytes, number);
        if (run.count > 1) put(bytes, run.step);
      }
    }
  }
  return bytes;
}

base::Result<std::vector<Box>> decode_boxes(base::ConstByteSpan bytes, const Box& whole, std::size_t most,
                                            const std::string& object) {
  std::vector<Box> boxes;
  Numbers numbers(bytes);
  while (!numbers.done()) {
    if (whole.dimensions == 0) {
      if (numbers.take() != 1 || boxes.size() == most)
        return base::fail(wrong(object, "its boxes are not those of a scalar"));
      boxes.push_back(whole);
      continue;
    }
    Product product;
    std::size_t count = 1;
    for (unsigned d = 0; d < whole.dimensions; ++d) {
      PERDURE_TRY(product[d], read_intervals(numbers, whole, d, (most - boxes.size()) / count, object));
      count *= product[d].size();  // at most `most`
    }
    Index at{};
    for (std::size_t i = 0; i < count; ++i) {
      Box box = whole;
      for (unsigned d = 0; d < whole.dimensions; ++d) {
        box.begin[d] = product[d][at[d]].begin;
        box.end[d] = product[d][at[d]].end;
      }
      boxes.push_back(box);
      for (unsigned d = whole.dimensions; d > 0; --d) {
        if (++at[d - 1] < product[d - 1].size()) break;
        at[d - 1] = 0;
      }
    }
  }
  return boxes;
}

}  // namespace perdure::array
