#pragma once
// Selects the parts of a version for a file of another format, and names them there. Pure.
#include <string>
#include <vector>

#include "reader/stored_content.hpp"

namespace perdure::portable {

/// An array, or one rank's own region as an array of one dimension.
struct DataSet {
  std::string path;  ///< "temperature", "region.5", "ranks/3/state": unique in the file
  std::int32_t id = 0;
  segment::Label label;
  std::string kind;  ///< "global", "list", "replicated", "memory", "opaque"
  array::ElementType type;
  array::Box whole;
  const reader::StoredArray* array = nullptr;  ///< nullptr: a local region
  reader::LocalRegion local = {};              ///< elements of many bytes of unknown type are single bytes here
  std::uint64_t stored_element_bytes = 0;      ///< bytes of an element of a local region, as it was stored
  std::uint64_t bytes() const { return whole.elements() * type.bytes(); }
};

/// Gives the name of an array's or a local region's kind in a file.
std::string kind_of(segment::ArrayKind kind);

/// Selects all regions, or those that are named (by name or number); arrays first. The content outlives the result.
/// PERDURE_NOT_FOUND: there is no such region.
base::Result<std::vector<DataSet>> choose(const reader::StoredContent& content,
                                          const std::vector<std::string>& regions);

/// Sets the room between an element's members to zero.
void clear_room(const array::ElementType& type, base::ByteSpan elements);

}  // namespace perdure::portable
