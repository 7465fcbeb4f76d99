#pragma once
// What one node exports to the others of its job, so that they can fetch and rebuild what was lost: its pieces of a
// version, its redundancy blocks of it, and where peers can read both. Engines ask each other for it.
// (docs/adr/0020)
#include "catalog/redundancy_set.hpp"
#include "engine/replicate/encoding.hpp"

namespace perdure::engine {

struct ExportedPieces {
  struct Piece {
    segment::Piece piece;
    std::vector<std::optional<BlockPlace>> places;  ///< by chunk; nothing: not to be used
    PERDURE_FIELDS(piece, places)
    std::string wrong() const;
  };
  struct Part {
    catalog::RedundancySet redundancy_set;
    std::map<catalog::BlockName, BlockPlace> places;  ///< of blocks that are kept; the others are not to be used
    PERDURE_FIELDS(redundancy_set, places)
    std::string wrong() const;
  };
  std::vector<std::byte> address;  ///< of the exporter's endpoint; empty: a parity server exports, and exactly one part
  std::vector<Piece> pieces;
  std::vector<Part> parts;
  PERDURE_FIELDS(address, pieces, parts)
  std::string wrong() const;
};

std::vector<std::byte> encode(const ExportedPieces& exported);
/// PERDURE_CORRUPT when anything is missing or out of range.
base::Result<ExportedPieces> decode_exported_pieces(base::ConstByteSpan bytes);

}  // namespace perdure::engine
