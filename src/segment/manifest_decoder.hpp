#pragma once
// Manifests and pieces out of CBOR, item by item: what it costs is what they describe.
#include "base/cbor_reader.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

/// Every field is checked as manifest_codec.hpp says. `number` says which piece it is as long as its rank is not known.
base::Result<Piece> take_piece(base::CborReader& in, std::size_t number, const std::string& object);
base::Result<ChunkEntry> take_chunk(base::CborReader& in, const std::string& where, const std::string& object);
base::Result<Manifest> take_manifest(base::CborReader& in, const std::string& object);

}  // namespace perdure::segment
