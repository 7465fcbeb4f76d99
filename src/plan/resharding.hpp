#pragma once
// Which stored bytes a rank needs of a global array that other ranks wrote, as many or fewer or more, divided in
// another way; and which rank of a node reads which chunk for all of them. Pure. (docs/adr/0036)
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

/// The stored boxes of one array in one version: those that touch what a node wants, or all.
class StoredArray {
 public:
  StoredArray(std::uint64_t element_bytes, std::vector<StoredBox> stored);
  std::uint64_t element_bytes() const { return element_bytes_; }
  const std::vector<StoredBox>& stored() const { return stored_; }
  /// How much memory it takes.
  std::uint64_t bytes() const { return stored_.capacity() * sizeof(StoredBox) + tree_.bytes(); }
  /// Calls `found` with each stored box that shares elements with `wanted`, and with what they share.
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

/// Whether each element of `wanted` is stored, once: the first hole, and at most so many overlaps.
array::Cover cover(const StoredArray& array, const array::Box& wanted, std::size_t most_overlaps);

/// A chunk of the capture of a rank that wrote.
struct StoredChunk {
  std::uint32_t rank = 0;
  std::uint64_t chunk = 0;
  friend auto operator<=>(const StoredChunk&, const StoredChunk&) = default;
};

/// What a rank of this launch wants of an array, and where it has it in memory.
struct WantedBox {
  std::uint32_t rank = 0;
  array::Strided memory;
};

/// One chunk, read and verified once on a node.
struct ChunkReading {
  StoredChunk chunk;
  std::uint64_t bytes = 0;           ///< of the chunk as a whole
  std::uint32_t reader = 0;          ///< who reads it: one of the users
  std::vector<std::uint32_t> users;  ///< ranks of this node that need some of it, ascending
};

/// How long a capture is, and how it is cut.
struct StoredCapture {
  std::uint64_t bytes = 0, chunk_bytes = 0;
};
/// By rank that wrote.
using StoredCaptures = std::map<std::uint32_t, StoredCapture>;

/// What the ranks of one node need of all arrays: `wanted[i]` of `arrays[i]`. Each chunk is read once: what one rank
/// alone needs by that rank, then the others, the largest first, by the user that has least to read so far, of equals
/// by another one each time. Ascending by chunk. `captures` has every rank that stored a box, no chunk_bytes is 0, and
/// boxes of one array have as many dimensions: who reads manifests checks that.
std::vector<ChunkReading> readings(const std::vector<StoredArray>& arrays,
                                   const std::vector<std::vector<WantedBox>>& wanted, const StoredCaptures& captures);

/// What one chunk has of what is wanted. Calls `take(from, to, bytes)`: from that byte of the chunk to that byte of the
/// memory (where a Strided's offset counts from). Elements that lie in two chunks come in two parts.
void copies(std::uint64_t element_bytes, const StoredBox& from, const StoredCapture& capture, std::uint64_t chunk,
            const array::Strided& to,
            const std::function<void(std::uint64_t from, std::int64_t to, std::uint64_t bytes)>& take);

}  // namespace perdure::plan
