#pragma once
// Keeps protected regions, and cuts a range of a capture into pieces of memory. Pure but for the table's state. There
// may be a million regions: no call here visits all for one.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "capture/address_order.hpp"
#include "capture/array_part.hpp"
#include "capture/region_changes.hpp"
#include "capture/target.hpp"
#include "segment/manifest.hpp"
#include "segment/memory_entry.hpp"

namespace perdure::capture {

struct Region {
  std::int32_t id = 0;
  std::byte* address = nullptr;
  std::uint64_t element_bytes = 0;
  std::uint64_t count = 0;                                 ///< stored ones
  std::shared_ptr<const ArrayPart> part = {};              ///< of an array; then all of the above follows from it
  std::shared_ptr<const segment::Label> label = {};        ///< of plain memory, if it has one
  std::shared_ptr<const segment::Elements> elements = {};  ///< of plain memory, if it has them
  bool optional = false;                                   ///< a restore may find that it is not stored
  bool restored = false;                                   ///< the last successful restore filled it
  std::uint64_t bytes() const { return element_bytes * count; }
  /// Empty: it has none.
  std::string_view name() const;
  /// Its name in messages.
  std::string text() const;
};
/// Makes a region of `part`.
Region region_of(std::shared_ptr<const ArrayPart> part);

/// The regions of one handle, ordered by id. A call's cost grows with the logarithm of their number. Not thread-safe.
class RegionTable {
 public:
  /// Adds or replaces a region. PERDURE_INVALID_ARGUMENT: negative id, null address with bytes, overflow, overlap with
  /// another region.
  base::Status protect(const Region& region);
  base::Status unprotect(std::int32_t id);
  /// Returns the region whose memory `region` would overlap, if it can be protected at all.
  std::optional<std::int32_t> overlapped_by(const Region& region) const;
  /// Lets others have the memory of a region until move() places it: its owner has left it.
  void leave_memory(std::int32_t id);
  /// Moves protected regions, all at once: each lies elsewhere or has another count, and remains a part of an array if
  /// it was one. PERDURE_INVALID_ARGUMENT as protect(); then nothing has changed.
  base::Status move(std::vector<Region> moved);
  const Region* find(std::int32_t id) const;
  const std::map<std::int32_t, Region>& regions() const { return regions_; }
  std::uint64_t bytes() const { return bytes_; }
  bool has_parts() const { return parts_ > 0; }  ///< of arrays
  std::vector<segment::RegionEntry> entries() const;
  /// Sets a label. PERDURE_NOT_FOUND: it is not protected. PERDURE_INVALID_ARGUMENT: the label is invalid, or the
  /// region is a part of an array, which got its label at its declaration.
  base::Status set_label(std::int32_t id, const segment::Label& label);
  /// Sets the description of its elements, with the same errors. PERDURE_INVALID_ARGUMENT also if they have another
  /// size.
  base::Status set_elements(std::int32_t id, const segment::Elements& elements);
  /// Sets whether a restore may find that it is not stored. PERDURE_NOT_FOUND. Protecting it again keeps this.
  base::Status set_optional(std::int32_t id, bool optional);
  /// Records a successful restore: it filled `wanted` except for these, all ascending.
  void note_restored(const std::vector<std::int32_t>& wanted, const std::vector<std::int32_t>& absent,
                     const std::vector<std::int32_t>& absent_arrays = {});
  /// Changes of the program since checkpoints were stored.
  RegionChanges& changes() { return changes_; }
  const RegionChanges& changes() const { return changes_; }
  /// Replaces a part by the same one as all ranks agreed on: a list at its place, an array without elements that others
  /// store.
  void place(std::int32_t id, std::shared_ptr<const ArrayPart> placed);
  /// Grows whenever a part of an array is added, removed or replaced.
  std::uint64_t arrays_changed() const { return arrays_changed_; }

 private:
  void forget(const Region& region);
  base::Result<Region*> memory_of(std::int32_t id, const char* says);

  std::map<std::int32_t, Region> regions_;
  RegionChanges changes_;
  std::shared_ptr<const segment::Elements> said_last_;  // most regions have the same
  AddressOrder<std::uintptr_t> order_;                  // of those that have bytes
  std::uint64_t bytes_ = 0;                             // of all
  std::size_t parts_ = 0;                               // of arrays
  std::uint64_t arrays_changed_ = 0;
};

/// The places in memory of the bytes of a capture.
class CapturedMemory {
 public:
  /// Appends bytes to the capture; `address` nullptr: nowhere.
  void add(std::byte* address, std::uint64_t bytes);
  /// Appends a box of an array, packed; the offset counts from `address`.
  void add(std::byte* address, const array::Strided& lies, std::uint64_t element_bytes);
  /// Returns spans that are together as long as `range`, which is inside of the added bytes; found by bisection.
  std::vector<MemorySpan> spans(ChunkRange range) const;
  /// Calls `take(address, bytes)`, a Status, for each of these spans. `address` may be nullptr.
  template <class Take>
  base::Status each(ChunkRange range, Take&& take) const;
  /// Whether some box is so fragmented that its spans are many.
  bool scattered() const { return scattered_; }

 private:
  struct Part {
    std::uint64_t begin = 0;  // in the capture
    std::byte* address = nullptr;
    std::size_t box = kNoBox;  // of boxes_
  };
  struct Box {
    array::Strided lies;
    std::uint64_t element_bytes = 0;
  };
  static constexpr std::size_t kNoBox = ~std::size_t{0};
  std::size_t first_part(std::uint64_t begin) const;

  std::vector<Part> parts_;
  std::vector<Box> boxes_;
  std::uint64_t bytes_ = 0;
  bool scattered_ = false;
};

template <class Take>
base::Status CapturedMemory::each(ChunkRange range, Take&& take) const {
  const std::uint64_t end = std::min(range.end(), bytes_);
  std::uint64_t at = range.begin;
  for (std::size_t i = first_part(at); at < end; ++i) {
    const Part& part = parts_[i];
    const std::uint64_t stop = std::min(i + 1 == parts_.size() ? bytes_ : parts_[i + 1].begin, end);
    const std::uint64_t begin = at - part.begin, length = stop - at;
    if (part.box == kNoBox) {
      PERDURE_CHECK(take(part.address == nullptr ? nullptr : part.address + begin, length));
    } else {
      const Box& box = boxes_[part.box];
      PERDURE_CHECK(each_run(box.lies, part.address, box.element_bytes, {begin, length}, take));
    }
    at = stop;
  }
  return {};
}

/// Returns the memory of a capture of the protected regions.
CapturedMemory captured_memory(const RegionTable& table);

/// Returns the memory that a stored capture fills: `to` has for each entry the region of `table` that it fills, or
/// kNoRegion (matching.hpp).
CapturedMemory restored_memory(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                               const std::vector<std::int32_t>& to);

}  // namespace perdure::capture
