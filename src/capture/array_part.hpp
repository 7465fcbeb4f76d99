#pragma once
// Describes a rank's part of an array, and its place in memory. Pure.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array/strided.hpp"
#include "capture/target.hpp"
#include "segment/array_entry.hpp"

namespace perdure::capture {

/// A box that a rank owns, in its memory: `address` is that of its first element. Without strides the box with its
/// ghosts is dense, the last dimension fastest.
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

/// Made once for each declaration, and immutable.
class ArrayPart {
 public:
  /// Makes a part. `array` comes without boxes. `owned` has the boxes of this rank. For a replicated array that is one,
  /// the whole array. For a list it is one from row 0 on, or none, and place() makes the stored one. `stores` is false
  /// for a replicated array that another rank stores. PERDURE_INVALID_ARGUMENT about the region: a box is empty,
  /// outside of the array, of another number of dimensions or without an address. So are too many boxes, and a stride
  /// beyond any memory.
  static base::Result<std::shared_ptr<const ArrayPart>> make(std::int32_t id, segment::ArrayEntry array,
                                                             const Ghosts& ghosts, const std::vector<OwnedBox>& owned,
                                                             bool stores);
  /// Returns the manifest's entry.
  const segment::RegionEntry& stored() const { return stored_; }
  const segment::ArrayEntry& array() const { return array_; }
  std::uint64_t element_bytes() const { return array_.type.bytes(); }
  /// Returns the boxes in memory; offsets count from address(). A replicated array is there wholly, even if another
  /// rank stores it.
  const std::vector<array::Strided>& memory() const { return memory_; }
  std::byte* address() const { return address_; }
  /// Returns the stored boxes of memory(), or the stored parts of them, in the order of stored().
  const std::vector<array::Strided>& captured() const { return left_ ? *left_ : memory_; }
  /// Elements of a box of memory() that another rank has, too.
  struct Shared {
    std::size_t number = 0;  ///< of the box
    array::Box box;
  };
  /// Returns the same part without elements that others store; nothing: as it was declared. PERDURE_INVALID_ARGUMENT if
  /// the rest would be too many boxes.
  base::Result<std::shared_ptr<const ArrayPart>> leave(const std::vector<Shared>& elsewhere) const;
  /// Returns the bytes from address() to behind its last element.
  std::uint64_t reach_bytes() const { return reach_bytes_; }
  /// Returns the same part where its owner has moved it: from address() to `address`.
  std::shared_ptr<const ArrayPart> at(std::byte* address) const;
  /// Returns the same list, with `rows` rows at `address`. PERDURE_INVALID_ARGUMENT if there are too many.
  base::Result<std::shared_ptr<const ArrayPart>> with_rows(std::byte* address, std::uint64_t rows) const;
  /// Returns the contiguous bytes at address(), or 0 if there are several boxes or gaps.
  std::uint64_t dense_bytes() const;
  /// Returns a list's rows on this rank.
  std::uint64_t rows() const { return memory_.empty() ? 0 : memory_.front().box.extent(0); }
  /// Returns the same list with this rank's rows from `first` on, of `total` on all ranks. PERDURE_INVALID_ARGUMENT if
  /// together they are not below 2^63 bytes.
  base::Result<std::shared_ptr<const ArrayPart>> place(std::uint64_t first, std::uint64_t total) const;
  /// Returns this rank's declaration; for a list without its rows and its place.
  segment::RegionEntry declaration() const;
  /// Whether a restore fills its ghosts, too.
  bool fills_ghosts() const { return ghosts_.fill; }
  /// Returns the boxes that a restore fills: those of memory(), with their ghosts if requested.
  std::vector<array::Strided> wanted() const;
  /// Returns one of these boxes.
  array::Strided wanted(std::size_t number) const;

 private:
  base::Status describe(std::int32_t id);

  segment::ArrayEntry array_;
  Ghosts ghosts_;
  std::vector<array::Strided> memory_;
  std::byte* address_ = nullptr;
  std::uint64_t reach_bytes_ = 0;
  bool stores_ = true;
  std::shared_ptr<const std::vector<array::Strided>> left_;  // set if others store some of it
  segment::RegionEntry stored_;
};

/// Lays out a part of a box, which is inside of it.
array::Strided part_of(const array::Strided& lies, const array::Box& part);

/// Visits one box in a capture, its elements one behind the other. Calls `take(address, bytes)` for the runs of memory
/// that make up bytes [begin, begin + length) of it, in order.
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
