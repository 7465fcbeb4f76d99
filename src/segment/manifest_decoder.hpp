#pragma once
// Decodes manifests and pieces from CBOR, item by item: the cost follows the content, not its claims.
#include "base/cbor_reader.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

/// Checks every field as manifest_codec.hpp says. `number` names the piece while its rank is unknown.
base::Result<Piece> take_piece(base::CborReader& in, std::size_t number, const std::string& object,
                               PieceForm form = PieceForm::placed);
base::Result<ChunkEntry> take_chunk(base::CborReader& in, const std::string& where, const std::string& object,
                                    PieceForm form = PieceForm::placed);
base::Result<Manifest> take_manifest(base::CborReader& in, const std::string& object);

}  // namespace perdure::segment
