#pragma once
// What one node lends to the others of its job, so that they can fetch and rebuild what was lost: its pieces of a
// version and what it keeps for it, and where peers can read that. It travels through the application's communicator.
// (docs/adr/0014)
#include "catalog/protection.hpp"
#include "engine/encoding.hpp"

namespace perdure::engine {

struct Loan {
  struct Piece {
    segment::Piece piece;
    std::vector<std::optional<BlockPlace>> places;  ///< by chunk; nothing: not to be used
  };
  struct Part {
    catalog::Protection protection;
    std::map<catalog::BlockName, BlockPlace> places;
  };
  std::vector<std::byte> address;  ///< of the lender's endpoint; empty: a parity server lends, and exactly one part
  std::vector<Piece> pieces;
  std::vector<Part> parts;
};

std::vector<std::byte> encode(const Loan& loan);
/// PERDURE_CORRUPT when anything is missing or out of range.
base::Result<Loan> decode_loan(base::ConstByteSpan bytes);

}  // namespace perdure::engine
