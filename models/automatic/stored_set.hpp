#pragma once
// Describes a data set for checkpoints: the whole that all ranks share, and where this rank's elements are.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "track/access.hpp"

namespace perdure::automatic {

using track::Box;
using Strides = std::array<std::int64_t, track::kMostDimensions>;  ///< bytes from one index to the next

/// Elements that lie in memory at regular strides.
struct Part {
  Box box;
  std::byte* address = nullptr;  ///< address of the first element
  Strides strides{};
  std::byte* at(const std::array<std::int64_t, track::kMostDimensions>& index) const;
};
/// Returns the share of the part within `box`; its box is empty if there is none.
Part part_within(const Part& part, const Box& box);
/// Packs a part element by element, densely, in its memory order (`x_first`) or with the last index the fastest.
std::byte* pack(const Part& part, std::size_t element_bytes, bool x_first, std::byte* packed);
/// Describes the packed elements at their new place.
Part packed_part(const Part& part, std::size_t element_bytes, bool x_first, std::byte* packed);

/// Returns why checkpoints cannot use these texts, or an empty text. A name has 1 to 56 characters of A-Z a-z 0-9 . _
/// -, and begins with a letter. perdure_describe() must accept it with a number appended.
std::string defect_of_texts(std::string_view name, std::string_view unit, std::string_view description);

struct StoredSet {
  track::DataSet data;
  std::string type;         ///< the element type, as in perdure_array
  std::string unit;         ///< may be empty
  std::string description;  ///< may be empty
  bool x_first = false;     ///< the first index is the fastest; else the last one
  bool replicated = false;  ///< every rank has the same whole copy, dense; loops read and write it as a whole
  std::vector<Part> owned;  ///< disjoint; no two ranks own an element, unless it is replicated
  std::uint64_t bytes() const { return data.box.elements() * data.element_bytes; }
};

}  // namespace perdure::automatic
