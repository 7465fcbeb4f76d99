#pragma once
// Protected regions, and how a range of a capture is cut into pieces of memory. Pure but for the table's state. There
// may be a million of them: nothing here goes through all for one.
#include <cstdint>
#include <map>
#include <vector>

#include "base/result.hpp"
#include "capture/address_order.hpp"
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

/// The regions of one handle, ordered by id. What a call costs grows with the logarithm of their number. Not
/// thread-safe.
class RegionTable {
 public:
  /// Adds or replaces. PERDURE_INVALID_ARGUMENT: negative id, null address with bytes, overflow, overlap with another
  /// region.
  base::Status protect(const Region& region);
  base::Status unprotect(std::int32_t id);
  const Region* find(std::int32_t id) const;
  const std::map<std::int32_t, Region>& regions() const { return regions_; }
  std::uint64_t bytes() const { return bytes_; }
  std::vector<segment::RegionEntry> entries() const;

 private:
  void forget(const Region& region);

  std::map<std::int32_t, Region> regions_;
  AddressOrder<std::uintptr_t> order_;  // of those that have bytes
  std::uint64_t bytes_ = 0;             // of all
};

/// Where in memory the bytes of a capture are.
class CapturedMemory {
 public:
  /// What follows in the capture; `address` nullptr: nowhere.
  void add(std::byte* address, std::uint64_t bytes);
  /// Together as long as `range`, which is inside of what was added; found by bisection.
  std::vector<MemorySpan> spans(ChunkRange range) const;

 private:
  struct Part {
    std::uint64_t begin = 0;  // in the capture
    std::byte* address = nullptr;
  };
  std::vector<Part> parts_;
  std::uint64_t bytes_ = 0;
};

/// Of a capture of the protected regions.
CapturedMemory captured_memory(const RegionTable& table);

/// Where a stored capture goes: to the regions of `table` whose id is in `wanted` (ascending), else nowhere.
CapturedMemory restored_memory(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                               const std::vector<std::int32_t>& wanted);

/// Every wanted id must be stored as memory with the protected element size and count: PERDURE_NOT_FOUND or
/// PERDURE_MISMATCH with both sizes.
base::Status check_sizes(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                         const std::vector<std::int32_t>& wanted);

}  // namespace perdure::capture
