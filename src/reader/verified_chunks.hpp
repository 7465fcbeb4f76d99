#pragma once
// Reads bytes of chunks, and returns none before its whole chunk is verified.
#include <map>
#include <memory>
#include <vector>

#include "store/store.hpp"

namespace perdure::reader {

/// A chunk, and its place. The pointees outlive every call.
struct ChunkPlace {
  const store::SegmentRef* segment = nullptr;
  const segment::Piece* piece = nullptr;
  std::size_t chunk = 0;
  const segment::ChunkEntry& entry() const { return piece->chunks[chunk]; }
  friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

/// Keeps the last used chunks, so that a caller that continues where it stopped reads no chunk again. For a chunk that
/// does not fit it keeps hashes of its blocks, and reads the requested block. One thread at a time.
class VerifiedChunks {
 public:
  /// Keeps at most `most_bytes`, or the chunk that is being read.
  VerifiedChunks(store::Store& store, std::uint64_t most_bytes) : store_(&store), most_bytes_(most_bytes) {}
  /// Reads bytes [from, from + target.size()), which are inside of the chunk. A chunk that does not match its hash is
  /// read again, past the page cache. PERDURE_CORRUPT about the segment if that does not help.
  base::Status read(const ChunkPlace& place, std::uint64_t from, base::ByteSpan target);
  /// Reads bytes of the capture of `piece`, which has them. Both stay where they are.
  base::Status read_capture(const store::SegmentRef& segment, const segment::Piece& piece, std::uint64_t begin,
                            base::ByteSpan target);
  /// Keeps the segment open, so that it can be read to its end although retention removes it meanwhile. It keeps only
  /// the first segments: at most kMostOpen, and a quarter of the descriptor limit. The reference must stay where it is.
  void keep_open(const store::SegmentRef& segment, std::unique_ptr<segment::ByteSource> source);
  static constexpr std::size_t kMostOpen = 256;
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Kept {
    ChunkPlace place;
    std::vector<std::byte> bytes;
    std::uint64_t used = 0;
  };
  /// A chunk that is too large to be kept.
  struct KnownBlocks {
    ChunkPlace place;
    std::vector<base::Hash128> hashes;  ///< of its blocks
    std::vector<std::byte> block;
    std::size_t block_number = 0;  ///< number of the block in `block`, unless that is empty
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
