#pragma once
// A data set as checkpoints need it: what all ranks have together, and where this rank's elements of it are.
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

/// Elements that lie in memory in a regular way.
struct Part {
  Box box;
  std::byte* address = nullptr;  ///< of its first element
  Strides strides{};
  std::byte* at(const std::array<std::int64_t, track::kMostDimensions>& index) const;
};
/// What of the part is in `box`; its box is empty where nothing is.
Part part_within(const Part& part, const Box& box);
/// Copies a part, element by element, dense, in the order of its memory (`x_first`) or with the last index the fastest.
std::byte* pack(const Part& part, std::size_t element_bytes, bool x_first, std::byte* packed);
/// The same elements as they lie there.
Part packed_part(const Part& part, std::size_t element_bytes, bool x_first, std::byte* packed);

/// Why checkpoints could not have what a data set is called, or what is said of it; empty where they can. A name has 1
/// to 56 of A-Z a-z 0-9 . _ -, beginning with a letter: as perdure_describe() takes it, with a number behind it.
std::string defect_of_texts(std::string_view name, std::string_view unit, std::string_view description);

struct StoredSet {
  track::DataSet data;
  std::string type;         ///< of an element, as in perdure_array
  std::string unit;         ///< may be empty
  std::string description;  ///< may be empty
  bool x_first = false;     ///< the first index is the fastest; else the last one
  bool replicated = false;  ///< every rank has all of it, the same, dense; loops read and write it as a whole
  std::vector<Part> owned;  ///< disjoint; of other ranks nobody has an element, unless it is replicated
  std::uint64_t bytes() const { return data.box.elements() * data.element_bytes; }
};

}  // namespace perdure::automatic
