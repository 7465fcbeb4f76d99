#pragma once
// What a version consists of, as its manifests say: arrays that ranks have together, and what each rank has alone.
#include <cstdint>
#include <string>
#include <vector>

#include "plan/resharding.hpp"
#include "segment/array_entry.hpp"

namespace perdure::reader {

/// An array, as all its ranks say.
struct StoredArray {
  std::int32_t id = 0;
  segment::Label label;  ///< as the lowest rank with a name calls it
  array::ElementType type;
  segment::ArrayKind kind = segment::ArrayKind::global;
  array::Box whole;
  plan::StoredArray boxes;  ///< ascending by rank, of each rank in the order of its capture
  std::uint64_t bytes() const { return whole.elements() * type.bytes(); }
  std::string text() const { return segment::region_text(id, label); }
};

/// What one rank has for itself.
struct LocalRegion {
  std::int32_t id = 0;
  std::uint32_t rank = 0;
  segment::EntryKind kind = segment::EntryKind::memory;
  std::uint64_t element_bytes = 0, count = 0;
  std::uint64_t at = 0;  ///< byte of the rank's capture at which it begins
  std::uint64_t bytes() const { return element_bytes * count; }
};

/// What a listing says of all that has one number.
struct StoredRegion {
  std::int32_t id = 0;
  segment::Label label;
  segment::EntryKind kind = segment::EntryKind::memory;
  /// Of an array, its own. Else what the lowest rank says of it, or of bytes of which nothing is known.
  array::ElementType type;
  std::uint64_t ranks = 0;                        ///< that stored any of it; if it is no array, that have it
  std::uint64_t bytes = 0;                        ///< stored by all of them
  std::uint64_t least_count = 0, most_count = 0;  ///< elements of one rank, if it is no array
  bool array() const { return kind == segment::EntryKind::array; }
  std::string text() const { return segment::region_text(id, label); }
};

}  // namespace perdure::reader
