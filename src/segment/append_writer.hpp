#pragma once
// Writes a segment of format 4 by appending only: to a file, or to an object that is sent in parts.
#include <map>
#include <optional>

#include "segment/segment.hpp"

namespace perdure::segment {

/// Chunks of all ranks come in any order, and each gets the next offset. A rank's table follows its last chunk. It
/// keeps the chunk entries of ranks without a table, and 40 bytes for each other rank. Not thread-safe.
class AppendWriter {
 public:
  /// Writes the header. `heading` is a manifest without pieces, with an alignment: a power of two up to kMaxAlignment.
  /// `write` gets all bytes of the file in their order, without gaps.
  static base::Result<AppendWriter> begin(Manifest heading, WriteAt write);
  /// Each chunk once.
  base::Status add_chunk(std::uint32_t rank, std::size_t chunk_index, base::ConstByteSpan plain);
  /// Writes the table of a rank whose chunks were all added. `piece` has no chunks.
  base::Status finish_rank(Piece piece);
  /// Writes the end, after the tables of all ranks. Returns the length of the file.
  base::Result<std::uint64_t> finish();

 private:
  AppendWriter(Manifest heading, WriteAt write) : index_(std::move(heading)), write_(std::move(write)) {}
  base::Status refuse(std::uint32_t rank, const std::string& cause) const;
  base::Status check_rank(std::uint32_t rank) const;
  base::Status append(base::ConstByteSpan data);
  base::Status pad(std::uint64_t alignment);

  Manifest index_;
  WriteAt write_;
  std::uint64_t end_ = 0;
  std::map<std::uint32_t, std::map<std::size_t, ChunkEntry>> chunks_;  ///< of ranks without a table, by index
  std::optional<base::Error> failed_;                                  ///< the sink did, and has a gap
};

}  // namespace perdure::segment
