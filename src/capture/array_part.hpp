#pragma once
// What a rank has of an array, and where in its memory. Pure.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array/strided.hpp"
#include "capture/target.hpp"
#include "segment/array_entry.hpp"

namespace perdure::capture {

/// A box that a rank owns, in its memory: `address` is that of its first element. No strides: with its ghosts around it
/// the box is dense, the last dimension fastest.
struct OwnedBox {
  array::Box box;
  std::byte* address = nullptr;
  std::optional<array::Strides> strides = {};
};

/// Elements around each box that belong to others: so many on both sides of each dimension, but none outside of the
/// array. They are not stored.
struct Ghosts {
  array::Index width{};
  bool fill = false;  ///< by a restore
};

/// Made once for each declaration, and never changed.
class ArrayPart {
 public:
  /// `array`: without boxes. `owned`: those of this rank; of a replicated array one, which is the whole of it; of a
  /// list one from row 0 on, or none, and what place() makes of it is what is stored. `stores`: false for a replicated
  /// array that another rank stores. PERDURE_INVALID_ARGUMENT about the region: a box that is empty, outside of the
  /// array, of another number of dimensions or without an address; too many boxes; a stride beyond what memory can
  /// have.
  static base::Result<std::shared_ptr<const ArrayPart>> make(std::int32_t id, segment::ArrayEntry array,
                                                             const Ghosts& ghosts, const std::vector<OwnedBox>& owned,
                                                             bool stores);
  /// What the manifest says.
  const segment::RegionEntry& stored() const { return stored_; }
  const segment::ArrayEntry& array() const { return array_; }
  std::uint64_t element_bytes() const { return array_.type.bytes(); }
  /// Offsets count from address(). Of a replicated array all of it, also where another rank stores it.
  const std::vector<array::Strided>& memory() const { return memory_; }
  std::byte* address() const { return address_; }
  /// Those of memory() that are stored, or parts of them, in the order of stored().
  const std::vector<array::Strided>& captured() const { return left_ ? *left_ : memory_; }
  /// Elements of a box of memory() that another rank has, too.
  struct Shared {
    std::size_t number = 0;  ///< of the box
    array::Box box;
  };
  /// The same part, of which others store some elements; nothing: as it was declared. PERDURE_INVALID_ARGUMENT: what is
  /// left would be too many boxes.
  base::Result<std::shared_ptr<const ArrayPart>> leave(const std::vector<Shared>& elsewhere) const;
  /// Bytes from address() to behind its last element.
  std::uint64_t reach_bytes() const { return reach_bytes_; }
  /// The same part where its owner has moved it: what was at address() is at `address`.
  std::shared_ptr<const ArrayPart> at(std::byte* address) const;
  /// The same list, of so many rows at `address`. PERDURE_INVALID_ARGUMENT: they are too many.
  base::Result<std::shared_ptr<const ArrayPart>> with_rows(std::byte* address, std::uint64_t rows) const;
  /// Bytes at address() without gaps, or 0 where there are several boxes or gaps.
  std::uint64_t dense_bytes() const;
  /// A list's rows on this rank.
  std::uint64_t rows() const { return memory_.empty() ? 0 : memory_.front().box.extent(0); }
  /// The same list with this rank's rows from `first` on, of `total` that all ranks have. PERDURE_INVALID_ARGUMENT when
  /// they are together not below 2^63 bytes.
  base::Result<std::shared_ptr<const ArrayPart>> place(std::uint64_t first, std::uint64_t total) const;
  /// What this rank says of it: what was declared, but of a list neither its rows nor its place.
  segment::RegionEntry declaration() const;
  /// A restore fills its ghosts, too.
  bool fills_ghosts() const { return ghosts_.fill; }
  /// What a restore fills: the boxes of memory(), with their ghosts where that is asked for.
  std::vector<array::Strided> wanted() const;
  /// Of one of these boxes.
  array::Strided wanted(std::size_t number) const;

 private:
  base::Status describe(std::int32_t id);

  segment::ArrayEntry array_;
  Ghosts ghosts_;
  std::vector<array::Strided> memory_;
  std::byte* address_ = nullptr;
  std::uint64_t reach_bytes_ = 0;
  bool stores_ = true;
  std::shared_ptr<const std::vector<array::Strided>> left_;  // where others store some of it
  segment::RegionEntry stored_;
};

/// How a part of a box lies, which is inside of it.
array::Strided part_of(const array::Strided& lies, const array::Box& part);

/// One box in a capture, its elements one behind the other. Calls `take(address, bytes)` for the runs of memory that
/// bytes [begin, begin + length) of it are, in order, and together exactly these.
template <class Take>
base::Status each_run(const array::Strided& lies, std::byte* address, std::uint64_t element_bytes, ChunkRange range,
                      Take&& take) {
  const array::Strided memory = array::in_bytes(lies, element_bytes);
  const array::Strided capture = array::packed(memory.box, 1, 0);
  base::Status taken;
  for (const auto& part : array::between(memory.box, range.begin, range.end()))
    array::strided_copy(part, 1, memory, capture).each([&](std::int64_t from, std::int64_t, std::uint64_t bytes) {
      if (taken) taken = take(address + from, bytes);
    });
  return taken;
}

}  // namespace perdure::capture
