#pragma once
// Declares the steps that reading, verifying and writing a segment share, in their order. Inside this module only.
#include "segment/reader.hpp"

namespace perdure::segment {

base::Status check_size(std::uint64_t bytes, const std::string& object);
/// Fails with PERDURE_INVALID_ARGUMENT about `object` if no index has room for so many tables.
base::Status check_tables(std::size_t tables, const std::string& object);
std::vector<std::byte> encode_table(const Piece& piece, PieceForm form);
/// Encodes manifest or index at `offset`, padding, and the trailer that ends the file.
std::vector<std::byte> encode_end(const Manifest& manifest, std::uint64_t offset);
/// Reads the raw header block, unchecked.
base::Result<std::vector<std::byte>> read_header(const ByteSource& source);
ReadAt reads(const ByteSource& source);
/// Returns the error of a chunk whose bytes hash to `found`.
base::Error chunk_damage(const Piece& piece, std::size_t index, const base::Hash128& found, const std::string& object);

}  // namespace perdure::segment
