#pragma once
// Declares the steps that reading and verifying a segment share, in their order. Inside this module only.
#include "segment/reader.hpp"

namespace perdure::segment {

base::Status check_size(std::uint64_t bytes, const std::string& object);
/// Reads the raw header block, unchecked.
base::Result<std::vector<std::byte>> read_header(const ByteSource& source);
ReadAt reads(const ByteSource& source);
/// Returns the error of a chunk whose bytes hash to `found`.
base::Error chunk_damage(const Piece& piece, std::size_t index, const base::Hash128& found, const std::string& object);

}  // namespace perdure::segment
