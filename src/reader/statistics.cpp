#include "reader/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "reader/number.hpp"

namespace perdure::reader {

using array::ScalarKind;

Statistics::Statistics(const array::ElementType& type) : element_bytes_(type.bytes()) {
  for (const array::Member& member : type.members()) {
    if (member.scalar.kind == ScalarKind::bytes) continue;
    if (member.scalar.kind != ScalarKind::complex) {
      parts_.push_back({member.name, member.scalar, member.offset, member.count, member.scalar.bytes, 0, 0, {}, {}, 0});
      continue;
    }
    const std::uint64_t half = member.scalar.bytes / 2;
    for (const auto& [name, offset] : {std::pair(".real", std::uint64_t{0}), std::pair(".imaginary", half)})
      parts_.push_back({member.name + name,
                        {ScalarKind::real, half},
                        member.offset + offset,
                        member.count,
                        member.scalar.bytes,
                        0,
                        0,
                        {},
                        {},
                        0});
  }
}

template <class T>
void Statistics::add(Part& part, base::ConstByteSpan elements) {
  T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::lowest();
  std::uint64_t nans = 0, values = 0;
  for (std::size_t at = part.offset; at < elements.size(); at += element_bytes_)
    for (std::uint64_t i = 0; i < part.count; ++i) {
      T value;
      std::memcpy(&value, elements.data() + at + i * part.step, sizeof value);
      ++values;
      if (value != value) {
        ++nans;
        continue;
      }
      // An infinity is beyond both.
      if (values - nans == 1) least = most = value;
      least = std::min(least, value);
      most = std::max(most, value);
      part.sum += static_cast<long double>(value);
    }
  part.values += values;
  part.nans += nans;
  if (values == nans) return;
  using Held = HeldAs<T>;
  if (!part.least || static_cast<Held>(least) < std::get<Held>(*part.least)) part.least = static_cast<Held>(least);
  if (!part.most || static_cast<Held>(most) > std::get<Held>(*part.most)) part.most = static_cast<Held>(most);
}

void Statistics::add(base::ConstByteSpan elements) {
  for (Part& part : parts_) with_type(part.scalar, [&]<class T>(T) { add<T>(part, elements); });
}

std::vector<MemberStatistics> Statistics::members() const {
  std::vector<MemberStatistics> all;
  for (const Part& part : parts_) {
    all.push_back({part.name, part.values, part.nans, part.least, part.most, {}});
    if (part.values > part.nans)
      all.back().mean = static_cast<double>(part.sum / static_cast<long double>(part.values - part.nans));
  }
  return all;
}

}  // namespace perdure::reader
