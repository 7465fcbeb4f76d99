#pragma once
// Finds the stored bytes that a rank needs of a global array, which other ranks, more or fewer, wrote in another
// division. Chooses which rank of a node reads which chunk for all of them. Pure. (docs/adr/0036)
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "array/box_index.hpp"
#include "array/cover.hpp"
#include "array/strided.hpp"

namespace perdure::plan {

/// A box that a rank stored: its elements one behind the other in the rank's capture, the last dimension fastest.
struct StoredBox {
  std::uint32_t rank = 0;
  array::Box box;
  std::uint64_t at = 0;  ///< byte of the capture at which its first element begins
};

/// The stored boxes of one array in one version: those that touch a node's wanted boxes, or all.
class StoredArray {
 public:
  StoredArray(std::uint64_t element_bytes, std::vector<StoredBox> stored);
  std::uint64_t element_bytes() const { return element_bytes_; }
  const std::vector<StoredBox>& stored() const { return stored_; }
  /// Returns its memory in bytes.
  std::uint64_t bytes() const { return stored_.capacity() * sizeof(StoredBox) + tree_.bytes(); }
  /// Calls `found` with each stored box that shares elements with `wanted`, and with the shared box.
  void meeting(const array::Box& wanted,
               const std::function<void(const StoredBox& stored, const array::Box& shared)>& found) const;

 private:
  std::uint64_t element_bytes_;
  array::BoxesAt boxes() const {
    return {stored_.empty() ? nullptr : &stored_[0].box, sizeof(StoredBox), stored_.size()};
  }

  std::vector<StoredBox> stored_;
  array::BoxTree tree_;
};

/// Checks that each element of `wanted` is stored once: returns the first hole, and at most `most_overlaps` overlaps.
array::Cover cover(const StoredArray& array, const array::Box& wanted, std::size_t most_overlaps);

/// A chunk of the capture of a rank that wrote.
struct StoredChunk {
  std::uint32_t rank = 0;
  std::uint64_t chunk = 0;
  friend auto operator<=>(const StoredChunk&, const StoredChunk&) = default;
};

/// A box that a rank of this launch wants of an array, and its place in memory.
struct WantedBox {
  std::uint32_t rank = 0;
  array::Strided memory;
};

/// One chunk, read and verified once on a node.
struct ChunkReading {
  StoredChunk chunk;
  std::uint64_t bytes = 0;           ///< of the chunk as a whole
  std::uint32_t reader = 0;          ///< the rank that reads it: one of the users
  std::vector<std::uint32_t> users;  ///< ranks of this node that need some of it, ascending
};

/// The length of a capture and of its chunks.
struct StoredCapture {
  std::uint64_t bytes = 0, chunk_bytes = 0;
};
/// The captures by the rank that wrote them.
using StoredCaptures = std::map<std::uint32_t, StoredCapture>;

/// Distributes the chunks that the ranks of one node need, `wanted[i]` of `arrays[i]`, so that each is read once. A
/// rank reads those that it alone needs. The others go, the largest first, to the user with least to read so far; among
/// equals to a different one each time. The result ascends by chunk. The caller, who reads manifests, checks three
/// conditions. `captures` has every rank that stored a box, chunk_bytes is never 0, and boxes of one array have equally
/// many dimensions.
std::vector<ChunkReading> readings(const std::vector<StoredArray>& arrays,
                                   const std::vector<std::vector<WantedBox>>& wanted, const StoredCaptures& captures);

/// Finds the wanted parts of one chunk. Calls `take(from, to, bytes)` with the byte of the chunk and the byte of memory
/// (from where a Strided's offset counts). An element that lies in two chunks comes in two parts.
void copies(std::uint64_t element_bytes, const StoredBox& from, const StoredCapture& capture, std::uint64_t chunk,
            const array::Strided& to,
            const std::function<void(std::uint64_t from, std::int64_t to, std::uint64_t bytes)>& take);

}  // namespace perdure::plan
