#pragma once
// Encodes an entry of kind `array`: the array, and the rank's part of it. (docs/format/segment.md)
#include <string>
#include <string_view>
#include <vector>

#include "array/box.hpp"
#include "array/element_type.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

/// A region's name for people, and what they have to know of it. All may be empty.
struct Label {
  std::string name;         ///< 1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter
  std::string unit;         ///< at most 64 bytes of printable text
  std::string description;  ///< at most 1024 bytes of printable text
  friend bool operator==(const Label&, const Label&) = default;
};
/// Fails with PERDURE_INVALID_ARGUMENT about `object`.
base::Status check_label(const Label& label, const std::string& object);
/// Whether a label may have this name.
bool is_region_name(std::string_view name);
/// Returns the label of any entry; leaves out invalid parts.
Label label_of(const RegionEntry& entry);
void set_label(RegionEntry& entry, const Label& label);
/// Returns the label's name, inside the entry; empty if it has none.
std::string_view name_of(const RegionEntry& entry);
/// Returns "region 5", "region 5 'temperature'" for messages and tables.
std::string region_text(std::int32_t id, const Label& label);
std::string region_text(const RegionEntry& entry);

/// How elements of an array belong together, besides by their indices.
enum class ArrayKind : std::uint32_t {
  global = 0,      ///< each element has one owner
  list = 1,        ///< one owner, and one dimension more than the rows have; the rows' distribution is arbitrary
  replicated = 2,  ///< all ranks have all of it; the lowest rank stored it
};
constexpr ArrayKind greatest(ArrayKind) { return ArrayKind::replicated; }

/// The elements of the boxes follow each other in the capture, in each box the last dimension fastest.
struct ArrayEntry {
  Label label;
  array::ElementType type;
  ArrayKind kind = ArrayKind::global;
  array::Box whole;                ///< begins at 0 in each dimension
  std::vector<array::Box> boxes;   ///< stored by this rank
  std::uint64_t elements() const;  ///< in its boxes
  friend bool operator==(const ArrayEntry&, const ArrayEntry&) = default;
};

/// Fails with PERDURE_INVALID_ARGUMENT if the boxes take more room than a manifest has for them.
base::Result<RegionEntry> entry_of(std::int32_t id, const ArrayEntry& array);
/// Fails with PERDURE_CORRUPT about `object` if the attributes are not those of an array, or do not describe the
/// entry's bytes.
base::Result<ArrayEntry> array_of(const RegionEntry& entry, const std::string& object);
/// Returns its boxes as encoded in its attributes (array::decode_boxes). array_of() must accept the entry.
std::vector<std::byte> boxes_in(const RegionEntry& entry);

}  // namespace perdure::segment
