#pragma once
// Checks where the chunks of a segment lie in the file. Pure.
#include <vector>

#include "base/result.hpp"
#include "segment/segment.hpp"

namespace perdure::segment {

/// The place of a chunk, or of a table of format 3 or 4.
struct Position {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  ///< in the file
  std::uint32_t rank = 0;
  const Piece* piece = nullptr;  ///< nullptr: a table
  std::size_t index = 0;         ///< of the chunk in its piece
};

/// Returns all chunks and tables, ascending by offset. They point into `manifest`.
std::vector<Position> positions(const Manifest& manifest);

/// Returns the chunks of one piece.
std::vector<Position> positions(const Piece& piece);
/// Returns what all offsets of the segment's chunks and tables are multiples of.
inline std::uint64_t alignment_of(const Manifest& manifest) { return manifest.alignment.value_or(kAlignment); }

/// Checks alignment and place of every chunk and table, and that none overlaps the header, the manifest or another one.
base::Status check_ranges(const Manifest& manifest, std::uint64_t manifest_offset, const std::string& object);
/// Does so for the chunks of one piece.
base::Status check_ranges(const Piece& piece, std::uint64_t alignment, std::uint64_t manifest_offset,
                          const std::string& object);

}  // namespace perdure::segment
