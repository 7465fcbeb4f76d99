#pragma once
// Encodes manifests, tables and indexes as CBOR (docs/format/segment.md), without a tree.
#include "base/cbor_writer.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

/// Writes the bytes of base::encode_cbor(to_json(piece)): a piece in a manifest, and a table.
void put_piece(base::CborWriter& out, const Piece& piece, PieceForm form = PieceForm::placed);
/// Writes the index of format 3 or 4 if it has tables; else the manifest of formats 1 and 2.
void put_manifest(base::CborWriter& out, const Manifest& manifest);

}  // namespace perdure::segment
