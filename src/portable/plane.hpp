#pragma once
// Selects a part of an array that a person wants to see, and samples its numbers, as many as a picture has room for.
#include "portable/data_set.hpp"

namespace perdure::portable {

/// "[3, :, 10:20]": one index, or a range, for each dimension.
struct Plane {
  array::Box box;
  unsigned dimensions = 0;        ///< number of dimensions with a range: 1 or 2
  unsigned across = 0, down = 0;  ///< these dimensions of the array; with one range, only `across`
  std::string text() const;       ///< "[3, 0:100, 10:20]", as parse_plane() takes it
};

/// "temperature[3,:,:]" -> "temperature", "[3,:,:]"; without a bracket the second one is empty.
std::pair<std::string, std::string> split_plane(const std::string& text);

/// Parses a plane of an array with these extents. An empty text is all of it; with more than two dimensions, the last
/// two, at the middle of the others. PERDURE_INVALID_ARGUMENT about `object`.
base::Result<Plane> parse_plane(const std::string& text, const array::Box& whole, const std::string& object);

/// Numbers in rows of `width`. Each is the mean of the elements that share it; NaN if none of them is a number.
struct Sampled {
  std::size_t width = 0, height = 0;
  std::vector<double> values;
};
/// Samples one member of the elements, at most so many numbers across and down. If the member has several numbers,
/// takes the first; of complex ones the absolute value.
base::Result<Sampled> sample(reader::StoredContent& content, const DataSet& set, const array::Member& member,
                             const Plane& plane, std::size_t most_width, std::size_t most_height);

/// Finds the member of this name; without a name the first one that has numbers. PERDURE_NOT_FOUND: there is none.
base::Result<array::Member> find_member(const array::ElementType& type, const std::string& name,
                                        const std::string& object);

}  // namespace perdure::portable
