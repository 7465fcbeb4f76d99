#pragma once
// Where the chunks of a segment lie in the file. Pure.
#include <vector>

#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

struct ChunkPosition {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  const Piece* piece = nullptr;
  std::size_t index = 0;  ///< of the chunk in its piece
};

/// All chunks, ascending by offset. They point into `manifest`.
std::vector<ChunkPosition> chunks_by_offset(const Manifest& manifest);

/// Alignment and place of every chunk, and that none overlaps the header, the manifest or another chunk.
base::Status check_chunk_ranges(const Manifest& manifest, std::uint64_t manifest_offset, const std::string& object);

}  // namespace perdure::segment
