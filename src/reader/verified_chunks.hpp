#pragma once
// Bytes of chunks, of which none is given before its whole chunk was verified.
#include <map>
#include <memory>
#include <vector>

#include "store/store.hpp"

namespace perdure::reader {

/// A chunk, and where it is. What it points to outlives every call.
struct ChunkPlace {
  const store::SegmentRef* segment = nullptr;
  const segment::Piece* piece = nullptr;
  std::size_t chunk = 0;
  const segment::ChunkEntry& entry() const { return piece->chunks[chunk]; }
  friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

/// Keeps the chunks that were used last, so that who reads on from where they stopped does not read a chunk again. Of a
/// chunk that does not fit it keeps hashes of its blocks, and reads the block that is asked for. One thread at a time.
class VerifiedChunks {
 public:
  /// Keeps at most `most_bytes`, or the chunk that is being read.
  VerifiedChunks(store::Store& store, std::uint64_t most_bytes) : store_(&store), most_bytes_(most_bytes) {}
  /// Bytes [from, from + target.size()) of the chunk, which has them. A chunk that does not match its hash is read
  /// again, past this machine's memory of it: PERDURE_CORRUPT, about the segment, where that does not help.
  base::Status read(const ChunkPlace& place, std::uint64_t from, base::ByteSpan target);
  /// Bytes of the capture of `piece`, which has them. Both stay where they are.
  base::Status read_capture(const store::SegmentRef& segment, const segment::Piece& piece, std::uint64_t begin,
                            base::ByteSpan target);
  /// Keeps the segment open, so that it can be read to its end although retention removes it meanwhile. Of many
  /// segments only the first ones: kMostOpen, and a quarter of the descriptors that there may be. The reference stays
  /// where it is.
  void keep_open(const store::SegmentRef& segment, std::unique_ptr<segment::ByteSource> source);
  static constexpr std::size_t kMostOpen = 256;
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Kept {
    ChunkPlace place;
    std::vector<std::byte> bytes;
    std::uint64_t used = 0;
  };
  /// What is too large to be kept.
  struct KnownBlocks {
    ChunkPlace place;
    std::vector<base::Hash128> hashes;  ///< of its blocks
    std::vector<std::byte> block;
    std::size_t block_number = 0;  ///< of the one that is in `block`, unless that is empty
  };
  Kept* kept(const ChunkPlace& place);
  base::Status open(const store::SegmentRef& segment, bool anew);
  base::Status load(const ChunkPlace& place);
  base::Status verify_whole(const ChunkPlace& place);
  base::Status verify_large(const ChunkPlace& place);
  base::Status read_large(std::uint64_t from, base::ByteSpan target);
  std::vector<std::byte> room_for(std::uint64_t bytes);

  store::Store* store_;
  std::uint64_t most_bytes_;
  std::map<const store::SegmentRef*, std::unique_ptr<segment::ByteSource>> open_;
  const store::SegmentRef* other_ = nullptr;
  std::unique_ptr<segment::ByteSource> other_source_;  ///< of other_, which is not in open_
  segment::ByteSource* source_ = nullptr;              ///< of the segment that was opened last
  std::vector<Kept> kept_;
  KnownBlocks large_;
  std::uint64_t uses_ = 0, bytes_read_ = 0;
};

}  // namespace perdure::reader
