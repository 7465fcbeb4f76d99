#pragma once
// Protected regions, and how a capture is cut into chunks and a chunk into pieces of memory. Pure but for the table's
// state.
#include <cstdint>
#include <map>
#include <vector>

#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::region {

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

/// Bytes [begin, begin + length) of a rank's capture.
struct ChunkRange {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
};

/// Cuts `total` bytes into chunks of `chunk_bytes` (> 0), the last one shorter; none for an empty capture.
std::vector<ChunkRange> cut(std::uint64_t total, std::uint64_t chunk_bytes);

/// A run of contiguous memory; address nullptr: bytes of the capture that nobody wants back.
struct Part {
  std::byte* address = nullptr;
  std::uint64_t length = 0;
};

/// The memory behind `range` of a capture of the protected regions.
std::vector<Part> capture_parts(const RegionTable& table, ChunkRange range);

/// Where the bytes of `range` of a stored capture go: to the regions of `table` whose id is in `wanted`, else nowhere.
std::vector<Part> restore_parts(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                                const std::vector<std::int32_t>& wanted, ChunkRange range);

/// Every wanted id must be stored with the protected element size and count: PERDURE_NOT_FOUND or PERDURE_MISMATCH with
/// both sizes.
base::Status check_sizes(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                         const std::vector<std::int32_t>& wanted);

}  // namespace perdure::region
