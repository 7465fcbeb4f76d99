#pragma once
// Compares one region of one rank in two runs, chunk by chunk.
#include "inspect/check_protection_verdict.hpp"
#include "segment/reader.hpp"

namespace perdure::inspect {

/// One rank's part of a version, and where its bytes are; without a piece the rank is not in that version.
struct StoredPiece {
  const segment::ByteSource* source = nullptr;
  const segment::Piece* piece = nullptr;
};

/// How region `id` differs; nothing when it is the same bit by bit, or in neither. Chunks whose hashes are equal are
/// not read; those that are read are verified. Needs memory for one chunk of each.
base::Result<std::optional<RegionDefect>> compare_region(const StoredPiece& here, const StoredPiece& there,
                                                         std::int32_t id);

}  // namespace perdure::inspect
