#pragma once
// What an entry of kind `memory` may say of its elements. (docs/format/segment.md)
#include <optional>
#include <string>
#include <vector>

#include "array/element_type.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

/// Elements of memory that is no part of an array. Whoever registers it may know neither.
struct Elements {
  std::optional<array::ElementType> type = {};
  std::optional<std::vector<std::uint64_t>> extents = {};  ///< the last dimension is the fastest
  friend bool operator==(const Elements&, const Elements&) = default;
};
/// At most; a scalar has none.
inline constexpr std::size_t kMostExtents = 8;

/// PERDURE_INVALID_ARGUMENT about `object`: they do not describe so many elements of so many bytes.
base::Status check_elements(const Elements& elements, std::uint64_t element_bytes, std::uint64_t count,
                            const std::string& object);
/// What is left of them where the same region has got another size.
Elements still_true(const Elements& elements, std::uint64_t element_bytes, std::uint64_t count);

/// Of an entry of memory; what does not describe its bytes is left out.
Elements elements_of(const RegionEntry& entry);
void set_elements(RegionEntry& entry, const Elements& elements);

/// "10x20"; of a scalar "scalar".
std::string extents_text(const std::vector<std::uint64_t>& extents);
/// It says nothing of what they are.
bool is_mere_bytes(const array::ElementType& type);
/// Both know their types, and these are not the same. Mere bytes (`v8`) say nothing of what they are.
bool of_other_type(const Elements& a, const Elements& b);
/// Both know their extents, and these are not the same.
bool of_other_shape(const Elements& a, const Elements& b);

}  // namespace perdure::segment
