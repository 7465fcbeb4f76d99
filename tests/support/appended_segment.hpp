#pragma once
// Segments of format 4 in memory, for tests.
#include <cstdlib>

#include "segment/append_writer.hpp"
#include "support/sample_segment.hpp"

namespace perdure::test_support {

/// A sink of bytes in their order. It ends the program at a gap.
inline segment::WriteAt appends_to(std::vector<std::byte>& file) {
  return [&file](std::uint64_t offset, base::ConstByteSpan data) -> base::Status {
    if (offset != file.size()) std::abort();
    file.insert(file.end(), data.begin(), data.end());
    return {};
  };
}

/// The manifest without pieces, of format 4.
inline segment::Manifest appended_heading(const segment::Manifest& manifest, std::uint64_t alignment) {
  return {manifest.id, manifest.ranks, manifest.segment_index, manifest.segment_count, manifest.writer, {},
          {},          alignment};
}

/// The whole file: rank by rank, with the captures of sample_capture().
inline std::vector<std::byte> appended_file(const segment::Manifest& manifest, std::uint64_t alignment) {
  std::vector<std::byte> file;
  auto writer = segment::AppendWriter::begin(appended_heading(manifest, alignment), appends_to(file)).value();
  bool good = true;
  for (const segment::Piece& piece : manifest.pieces) {
    const auto capture = sample_capture(manifest.id, piece.rank, piece.capture_bytes());
    for (std::size_t i = 0; i < piece.chunks.size(); ++i)
      good &= writer
                  .add_chunk(piece.rank, i,
                             base::ConstByteSpan(capture).subspan(i * piece.chunk_bytes, piece.chunks[i].length))
                  .has_value();
    good &= writer.finish_rank(piece).has_value();
  }
  const std::uint64_t bytes = writer.finish().value();  // before the size is looked at
  if (!good || bytes != file.size()) std::abort();
  return file;
}

}  // namespace perdure::test_support
