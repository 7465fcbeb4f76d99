#pragma once
// Computes statistics of regions and differences between them, slab by slab.
#include "reader/difference.hpp"
#include "reader/statistics.hpp"
#include "reader/stored_content.hpp"

namespace perdure::reader {

inline constexpr std::uint64_t kSlabBytes = 16 * base::MiB;

/// Called after each slab with the number of bytes of a region that were examined.
using Advance = std::function<void(std::uint64_t bytes)>;

/// Returns the type for the elements of a local region: that of `region`, if its rank has elements of that size.
array::ElementType type_of(const StoredRegion& region, const LocalRegion& local);
/// Describes a local region as an array of one dimension.
array::Box box_of(const LocalRegion& local);

/// Examines an array, or the memory of all ranks under this number. Empty if the elements are bytes.
base::Result<std::vector<MemberStatistics>> statistics(StoredContent& content, const StoredRegion& region,
                                                       const Advance& advance);

/// PERDURE_MISMATCH: they have other types or extents.
base::Result<Difference> difference(StoredContent& a, const StoredArray& of_a, StoredContent& b,
                                    const StoredArray& of_b, const Advance& advance);
/// PERDURE_MISMATCH: they have other numbers of elements, or of another size.
base::Result<Difference> difference(StoredContent& a, const LocalRegion& of_a, StoredContent& b,
                                    const LocalRegion& of_b, const array::ElementType& type, const Advance& advance);

}  // namespace perdure::reader
