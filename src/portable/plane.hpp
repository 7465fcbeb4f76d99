#pragma once
// A part of an array that a person wants to see: which one, and its numbers, as many as a picture has room for.
#include "portable/data_set.hpp"

namespace perdure::portable {

/// "[3, :, 10:20]": one index, or a range, for each dimension.
struct Plane {
  array::Box box;
  unsigned dimensions = 0;        ///< that have a range: 1 or 2
  unsigned across = 0, down = 0;  ///< which of the array; with one, only `across`
  std::string text() const;       ///< "[3, 0:100, 10:20]", as parse_plane() takes it
};

/// "temperature[3,:,:]" -> "temperature", "[3,:,:]"; without a bracket the second one is empty.
std::pair<std::string, std::string> split_plane(const std::string& text);

/// Of an array with these extents; an empty text is all of it, or of more than two dimensions the last two, at the
/// middle of the others. PERDURE_INVALID_ARGUMENT about `object`.
base::Result<Plane> parse_plane(const std::string& text, const array::Box& whole, const std::string& object);

/// Numbers in rows of `width`; where several elements share one, their mean. NaN where none of them is a number.
struct Sampled {
  std::size_t width = 0, height = 0;
  std::vector<double> values;
};
/// Of one member of the elements (of several numbers in it, the first; of complex ones the absolute value), at most so
/// many numbers across and down.
base::Result<Sampled> sample(reader::StoredContent& content, const DataSet& set, const array::Member& member,
                             const Plane& plane, std::size_t most_width, std::size_t most_height);

/// The member of this name; without a name the first one that has numbers. PERDURE_NOT_FOUND.
base::Result<array::Member> find_member(const array::ElementType& type, const std::string& name,
                                        const std::string& object);

}  // namespace perdure::portable
