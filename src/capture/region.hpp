#pragma once
// Protected regions, and how a range of a capture is cut into pieces of memory. Pure but for the table's state.
#include <cstdint>
#include <map>
#include <vector>

#include "base/result.hpp"
#include "capture/target.hpp"
#include "segment/manifest.hpp"

namespace perdure::capture {

struct Region {
  std::int32_t id = 0;
  std::byte* address = nullptr;
  std::uint64_t element_bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes() const { return element_bytes * count; }
};

/// The regions of one handle, ordered by id. Not thread-safe.
class RegionTable {
 public:
  /// Adds or replaces. PERDURE_INVALID_ARGUMENT: negative id, null address with bytes, overflow, overlap with another
  /// region.
  base::Status protect(const Region& region);
  base::Status unprotect(std::int32_t id);
  const Region* find(std::int32_t id) const;
  const std::map<std::int32_t, Region>& regions() const { return regions_; }
  std::uint64_t bytes() const;
  std::vector<segment::RegionEntry> entries() const;

 private:
  std::map<std::int32_t, Region> regions_;
};

/// The memory behind `range` of a capture of the protected regions.
std::vector<MemorySpan> capture_parts(const RegionTable& table, ChunkRange range);

/// Where the bytes of `range` of a stored capture go: to the regions of `table` whose id is in `wanted`, else nowhere.
std::vector<MemorySpan> restore_parts(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                                      const std::vector<std::int32_t>& wanted, ChunkRange range);

/// Every wanted id must be stored as memory with the protected element size and count: PERDURE_NOT_FOUND or
/// PERDURE_MISMATCH with both sizes.
base::Status check_sizes(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                         const std::vector<std::int32_t>& wanted);

}  // namespace perdure::capture
