#pragma once
// Encodes orders, the one large frame. Private to the module. Blocks name memory by its number in a table, as many
// share one.
#include "parity/order.hpp"

namespace perdure::parity {

struct PackedOrder {
  struct PackedBlock {
    std::uint32_t memory = 0;  ///< number in `memories`
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    base::Hash128 hash;
    PERDURE_FIELDS(memory, offset, bytes, hash)
  };
  struct PackedMember {
    Bytes address;
    std::vector<network::RemoteMemory> memories;
    std::vector<PackedBlock> blocks;
    PERDURE_FIELDS(address, memories, blocks)
    std::string wrong() const;
  };
  Bytes id;
  Bytes note;
  std::vector<PackedMember> members;
  PERDURE_FIELDS(id, note, members)
  std::string wrong() const;
};

PackedOrder pack(const Order& order);
Order unpack(PackedOrder packed);

/// Returns the error of an order beyond the limits, or with blocks outside of their memory.
base::Status check_order(const Order& order);

}  // namespace perdure::parity
