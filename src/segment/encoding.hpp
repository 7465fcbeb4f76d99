#pragma once
// Knows how the bytes of a chunk are made from those in the file. (docs/format/segment.md, encodings)
#include <string>

#include "segment/reader.hpp"

namespace perdure::segment {

/// Fills `plain` with the bytes of a chunk and feeds them to `hasher`; it has `chunk.length` bytes. An encoding whose
/// stored bytes differ also compares them with `chunk.encoded_hash`.
using Decoder = base::Status (*)(const ByteSource& source, const ChunkEntry& chunk, base::ByteSpan plain,
                                 base::Hasher& hasher);

/// Returns nullptr for an encoding that this release cannot decode.
Decoder decoder_for(Encoding encoding);

/// Fails with PERDURE_UNSUPPORTED for a chunk of such an encoding, so that nobody takes it for damaged.
base::Status check_decodable(const Piece& piece, std::size_t chunk_index, const std::string& object);

}  // namespace perdure::segment
