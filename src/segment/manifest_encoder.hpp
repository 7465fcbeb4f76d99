#pragma once
// Manifests, tables and indexes as CBOR (docs/format/segment.md), without a tree of them.
#include "base/cbor_writer.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

/// The same bytes as base::encode_cbor(to_json(piece)): what a manifest says of a piece, and what a table is.
void put_piece(base::CborWriter& out, const Piece& piece);
/// With tables, the index of format 3; else the manifest of formats 1 and 2.
void put_manifest(base::CborWriter& out, const Manifest& manifest);

}  // namespace perdure::segment
