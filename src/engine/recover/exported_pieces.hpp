#pragma once
// A node's export serves others of its job, which fetch and rebuild lost data from it. It has the node's pieces of a
// version, its redundancy blocks, and where peers can read them. Engines ask each other for it (docs/adr/0020).
#include "catalog/redundancy_set.hpp"
#include "engine/replicate/encoding.hpp"

namespace perdure::engine {

struct ExportedPieces {
  struct Piece {
    segment::Piece piece;
    std::vector<std::optional<BlockPlace>> places;  ///< by chunk; nullopt: not to be used
    PERDURE_FIELDS(piece, places)
    std::string wrong() const;
  };
  struct Part {
    catalog::RedundancySet redundancy_set;
    std::map<catalog::BlockName, BlockPlace> places;  ///< of the kept blocks that may be used
    PERDURE_FIELDS(redundancy_set, places)
    std::string wrong() const;
  };
  /// of the exporter's endpoint; empty: a parity server exports, with exactly one part
  std::vector<std::byte> address;
  std::vector<Piece> pieces;
  std::vector<Part> parts;
  PERDURE_FIELDS(address, pieces, parts)
  std::string wrong() const;
};

std::vector<std::byte> encode(const ExportedPieces& exported);
/// Fails with PERDURE_CORRUPT if anything is missing or out of range.
base::Result<ExportedPieces> decode_exported_pieces(base::ConstByteSpan bytes);

}  // namespace perdure::engine
