#pragma once
// Encodes the optional description of elements in an entry of kind `memory`. (docs/format/segment.md)
#include <optional>
#include <string>
#include <vector>

#include "array/element_type.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

/// Elements of memory that is no part of an array. The program may know neither.
struct Elements {
  std::optional<array::ElementType> type = {};
  std::optional<std::vector<std::uint64_t>> extents = {};  ///< the last dimension is the fastest
  friend bool operator==(const Elements&, const Elements&) = default;
};
/// The most dimensions; a scalar has none.
inline constexpr std::size_t kMostExtents = 8;

/// Fails with PERDURE_INVALID_ARGUMENT about `object` unless they describe so many elements of so many bytes.
base::Status check_elements(const Elements& elements, std::uint64_t element_bytes, std::uint64_t count,
                            const std::string& object);
/// Returns the part of them that still holds when the same region has got another size.
Elements still_true(const Elements& elements, std::uint64_t element_bytes, std::uint64_t count);

/// Reads them from an entry of memory; leaves out descriptions that do not fit its bytes.
Elements elements_of(const RegionEntry& entry);
void set_elements(RegionEntry& entry, const Elements& elements);

/// Returns "10x20"; for a scalar "scalar".
std::string extents_text(const std::vector<std::uint64_t>& extents);
/// Whether the type says only that elements are bytes.
bool is_mere_bytes(const array::ElementType& type);
/// Whether both know their types, and these differ. Mere bytes (`v8`) are no known type.
bool of_other_type(const Elements& a, const Elements& b);
/// Whether both know their extents, and these differ.
bool of_other_shape(const Elements& a, const Elements& b);

}  // namespace perdure::segment
