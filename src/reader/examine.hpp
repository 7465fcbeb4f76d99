#pragma once
// Statistics of regions and differences between them, read slab by slab.
#include "reader/difference.hpp"
#include "reader/statistics.hpp"
#include "reader/stored_content.hpp"

namespace perdure::reader {

inline constexpr std::uint64_t kSlabBytes = 16 * base::MiB;

/// Gets how many bytes of a region were looked at, after each slab.
using Advance = std::function<void(std::uint64_t bytes)>;

/// How the elements of a local region are to be understood: as `region` says, where its rank has elements of that size.
array::ElementType type_of(const StoredRegion& region, const LocalRegion& local);
/// A local region as an array: in one dimension.
array::Box box_of(const LocalRegion& local);

/// Of an array, or of what all ranks have under this number. Without members where the elements are bytes.
base::Result<std::vector<MemberStatistics>> statistics(StoredContent& content, const StoredRegion& region,
                                                       const Advance& advance);

/// PERDURE_MISMATCH: they have other types or extents.
base::Result<Difference> difference(StoredContent& a, const StoredArray& of_a, StoredContent& b,
                                    const StoredArray& of_b, const Advance& advance);
/// PERDURE_MISMATCH: they have other numbers of elements, or of another size.
base::Result<Difference> difference(StoredContent& a, const LocalRegion& of_a, StoredContent& b,
                                    const LocalRegion& of_b, const array::ElementType& type, const Advance& advance);

}  // namespace perdure::reader
