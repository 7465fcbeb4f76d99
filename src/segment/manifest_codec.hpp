#pragma once
// Encodes manifests and pieces as CBOR maps, the same in segments, catalogs and messages (docs/format/segment.md).
#include "base/cbor.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

base::Json to_json(const Attempt& attempt);
base::Json to_json(const VersionId& id);
base::Json to_json(const ChunkEntry& chunk);
base::Json to_json(const Piece& piece);

/// Counts the CBOR items of a piece in a manifest, as base::kMaxCborItems does.
std::uint64_t items_of(const Piece& piece, PieceForm form = PieceForm::placed);
/// A manifest has at most so many items besides its pieces.
inline constexpr std::uint64_t kMostItemsBesidePieces = 64;

/// Check every field for presence, type and range, and the lengths for consistency (chunks cover exactly the regions'
/// bytes, no overflow); PERDURE_CORRUPT about `object` otherwise.
base::Result<Attempt> attempt_from_json(const base::Json& json, const std::string& object);
base::Result<VersionId> version_id_from_json(const base::Json& json, const std::string& object);
/// `where` names the chunk in errors.
base::Result<ChunkEntry> chunk_from_json(const base::Json& json, const std::string& where, const std::string& object);
base::Result<Piece> piece_from_json(const base::Json& json, const std::string& object);
/// Decodes field `pieces`: of ranks below `ranks`, ascending.
base::Result<std::vector<Piece>> pieces_from_json(const base::Json& map, std::uint32_t ranks,
                                                  const std::string& object);
base::Result<std::uint32_t> rank_from_json(const base::Json& map, const std::string& object);
base::Result<std::uint64_t> chunk_bytes_from_json(const base::Json& map, const std::string& object);
/// Decodes all of a manifest but its pieces.
base::Result<Manifest> heading_from_json(const base::Json& map, const std::string& object);

/// Checks the name rule of perdure.h convention 5. PERDURE_INVALID_ARGUMENT with the rule in words.
base::Status check_name(std::string_view name);

}  // namespace perdure::segment
