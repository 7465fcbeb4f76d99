#pragma once
// Describes the content of a version, as its manifests have it: arrays that ranks share, and each rank's own memory.
#include <cstdint>
#include <string>
#include <vector>

#include "plan/resharding.hpp"
#include "segment/array_entry.hpp"

namespace perdure::reader {

/// An array, as all its ranks describe it.
struct StoredArray {
  std::int32_t id = 0;
  segment::Label label;  ///< that of the lowest rank with a name
  array::ElementType type;
  segment::ArrayKind kind = segment::ArrayKind::global;
  array::Box whole;
  plan::StoredArray boxes;  ///< ascending by rank, for each rank in the order of its capture
  std::uint64_t bytes() const { return whole.elements() * type.bytes(); }
  std::string text() const { return segment::region_text(id, label); }
};

/// A region that one rank has for itself.
struct LocalRegion {
  std::int32_t id = 0;
  std::uint32_t rank = 0;
  segment::EntryKind kind = segment::EntryKind::memory;
  std::uint64_t element_bytes = 0, count = 0;
  std::uint64_t at = 0;  ///< byte of the rank's capture at which it begins
  std::uint64_t bytes() const { return element_bytes * count; }
};

/// A listing's entry for all regions with one number.
struct StoredRegion {
  std::int32_t id = 0;
  segment::Label label;
  segment::EntryKind kind = segment::EntryKind::memory;
  /// For an array, its own type. Otherwise that of the lowest rank, or opaque bytes.
  array::ElementType type;
  std::uint64_t ranks = 0;                        ///< that stored any of it; for plain memory, that have it
  std::uint64_t bytes = 0;                        ///< stored by all of them
  std::uint64_t least_count = 0, most_count = 0;  ///< elements of one rank, for plain memory
  bool array() const { return kind == segment::EntryKind::array; }
  std::string text() const { return segment::region_text(id, label); }
};

}  // namespace perdure::reader
