#pragma once
// Defines the server's record of one id.
#include <memory>

#include "parity/combine.hpp"
#include "parity/pool.hpp"

namespace perdure::parity {

/// A block that went into a stripe; empty ones are left out.
struct StripeBlock {
  unsigned position = 0;
  std::uint64_t bytes = 0;
  base::Hash128 hash;
};

struct StripeParity {
  Pool::Piece memory;
  ParityBlock parity;
  std::vector<StripeBlock> blocks;
};

/// The record of an order. The parity table writes `stage` and `why`; the encoding thread writes the rest until it is
/// done.
struct Record {
  Bytes id;
  Pool::Piece note;
  base::Hash128 content;  ///< of all lengths and hashes
  std::uint64_t bytes = 0;
  std::vector<StripeParity> stripes;
  Progress progress;
  Stage stage = Stage::ordered;
  base::Error why;
};
using RecordPointer = std::shared_ptr<Record>;

/// Memory that clients use directly.
struct Area {
  Bytes id;
  Pool::Piece piece;
  network::RemoteMemory exposed;
};
using AreaPointer = std::shared_ptr<const Area>;

/// Shows an id in messages: quoted if it is text, else its hexadecimal digits.
std::string id_text(ConstByteSpan id);

/// Hashes lengths and hashes, without the places.
base::Hash128 content_of(const Order& order);
/// Returns the blocks of every stripe, without memory.
std::vector<StripeParity> stripes_of(const Order& order);

}  // namespace perdure::parity
