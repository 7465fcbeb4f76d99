#include "segment/chunk_ranges.hpp"

#include <algorithm>

#include "segment/segment.hpp"

namespace perdure::segment {
namespace {

std::string chunk_text(const ChunkPosition& chunk) {
  return "chunk " + std::to_string(chunk.index) + " of rank " + std::to_string(chunk.piece->rank);
}

/// Empty when the chunk may be where it says, else what is wrong.
std::string misplaced(const ChunkPosition& chunk, std::uint64_t manifest_offset) {
  const std::string at = ": offset " + std::to_string(chunk.offset);
  if (chunk.offset % kAlignment != 0) return at + " is not a multiple of 4096";
  if (chunk.offset < kHeaderBytes) return at + " overlaps the header";
  if (chunk.offset > manifest_offset || chunk.length > manifest_offset - chunk.offset)
    return at + " and length " + std::to_string(chunk.length) + " reach beyond the manifest's offset " +
           std::to_string(manifest_offset);
  if (chunk.piece->chunks[chunk.index].place != 0)
    return ": place is " + std::to_string(chunk.piece->chunks[chunk.index].place) + ", in a segment it is 0";
  return {};
}

}  // namespace

std::vector<ChunkPosition> chunks_by_offset(const Manifest& manifest) {
  std::vector<ChunkPosition> chunks;
  for (const Piece& piece : manifest.pieces)
    for (std::size_t i = 0; i < piece.chunks.size(); ++i)
      chunks.push_back({piece.chunks[i].offset, piece.chunks[i].length, &piece, i});
  std::stable_sort(chunks.begin(), chunks.end(),
                   [](const ChunkPosition& a, const ChunkPosition& b) { return a.offset < b.offset; });
  return chunks;
}

base::Status check_chunk_ranges(const Manifest& manifest, std::uint64_t manifest_offset, const std::string& object) {
  const ChunkPosition* previous = nullptr;
  const std::vector<ChunkPosition> chunks = chunks_by_offset(manifest);
  for (const ChunkPosition& chunk : chunks) {
    if (std::string what = misplaced(chunk, manifest_offset); !what.empty())
      return base::fail(PERDURE_CORRUPT, object, chunk_text(chunk) + what);
    if (previous != nullptr && previous->offset + previous->length > chunk.offset)
      return base::fail(
          PERDURE_CORRUPT, object,
          chunk_text(chunk) + ": offset " + std::to_string(chunk.offset) + " overlaps " + chunk_text(*previous));
    previous = &chunk;
  }
  return {};
}

}  // namespace perdure::segment
