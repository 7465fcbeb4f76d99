#include "automatic/stored_set.hpp"

#include <algorithm>
#include <cstring>

namespace perdure::automatic {
namespace {

using Index = std::array<std::int64_t, track::kMostDimensions>;

std::int64_t length(const Box& box, unsigned dimension) { return box.end[dimension] - box.begin[dimension]; }

// Returns the dimension that is the `step`-th fastest.
unsigned dimension_of(const Box& box, bool x_first, unsigned step) {
  return x_first ? step : box.dimensions - 1 - step;
}

// Packs the elements of dimensions up to `step`, the fastest ones, from `from` on.
std::byte* pack(const Part& part, std::size_t element_bytes, bool x_first, unsigned step, const std::byte* from,
                std::byte* packed) {
  if (step == 0) {
    std::memcpy(packed, from, element_bytes);
    return packed + element_bytes;
  }
  const unsigned d = dimension_of(part.box, x_first, step - 1);
  const std::int64_t count = length(part.box, d);
  if (step == 1 && part.strides[d] == static_cast<std::int64_t>(element_bytes)) {
    const std::size_t bytes = static_cast<std::size_t>(count) * element_bytes;
    std::memcpy(packed, from, bytes);
    return packed + bytes;
  }
  for (std::int64_t i = 0; i < count; ++i)
    packed = pack(part, element_bytes, x_first, step - 1, from + i * part.strides[d], packed);
  return packed;
}

}  // namespace

// Leaves room for the box's own text in a description of at most 1024 bytes.
std::string defect_of_texts(std::string_view name, std::string_view unit, std::string_view description) {
  constexpr std::size_t kMostName = 56, kMostUnit = 64, kMostDescription = 800;
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const auto good = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'; };
  if (name.empty() || name.size() > kMostName || !letter(name[0]) || !std::all_of(name.begin(), name.end(), good))
    return "its name cannot be: a name has 1 to 56 of the characters A-Z a-z 0-9 . _ -, beginning with a letter";
  if (unit.size() > kMostUnit || description.size() > kMostDescription)
    return "its unit has at most 64 bytes, and its description 800";
  return {};
}

std::byte* Part::at(const Index& index) const {
  std::int64_t offset = 0;
  for (unsigned d = 0; d < box.dimensions; ++d) offset += (index[d] - box.begin[d]) * strides[d];
  return address + offset;
}

Part part_within(const Part& part, const Box& box) {
  Part within{intersection(part.box, box), nullptr, part.strides};
  if (!within.box.empty()) within.address = part.at(within.box.begin);
  return within;
}

std::byte* pack(const Part& part, std::size_t element_bytes, bool x_first, std::byte* packed) {
  return part.box.empty() ? packed : pack(part, element_bytes, x_first, part.box.dimensions, part.address, packed);
}

Part packed_part(const Part& part, std::size_t element_bytes, bool x_first, std::byte* packed) {
  Part dense{part.box, packed, {}};
  auto stride = static_cast<std::int64_t>(element_bytes);
  for (unsigned step = 0; step < part.box.dimensions; ++step) {
    const unsigned d = dimension_of(part.box, x_first, step);
    dense.strides[d] = stride;
    stride *= length(part.box, d);
  }
  return dense;
}

}  // namespace perdure::automatic
