#pragma once
// What of a version goes into a file of another format, and what it is called there. Pure.
#include <string>
#include <vector>

#include "reader/stored_content.hpp"

namespace perdure::portable {

/// An array, or what one rank has for itself as an array of one dimension.
struct DataSet {
  std::string path;  ///< "temperature", "region.5", "ranks/3/state": unique in the file
  std::int32_t id = 0;
  segment::Label label;
  std::string kind;  ///< "global", "list", "replicated", "memory", "opaque"
  array::ElementType type;
  array::Box whole;
  const reader::StoredArray* array = nullptr;  ///< nothing: a local one
  reader::LocalRegion local = {};          ///< elements of many bytes of which nothing is known are single bytes here
  std::uint64_t stored_element_bytes = 0;  ///< of a local one, as it was stored
  std::uint64_t bytes() const { return whole.elements() * type.bytes(); }
};

/// How an array's or a local region's kind is called in a file.
std::string kind_of(segment::ArrayKind kind);

/// All regions, or those that are named (by name or number); arrays first. The content outlives the result.
/// PERDURE_NOT_FOUND: there is no such region.
base::Result<std::vector<DataSet>> choose(const reader::StoredContent& content,
                                          const std::vector<std::string>& regions);

/// Where an element has room between its members: zero afterwards.
void clear_room(const array::ElementType& type, base::ByteSpan elements);

}  // namespace perdure::portable
