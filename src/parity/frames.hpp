#pragma once
// Encodes requests to a parity server and its answers: the payloads of calls of network::Endpoint. A request is a magic
// number, the protocol's version and a verb, then the verb's fields (base/field_codec.hpp). Decoders take any bytes.
#include <optional>
#include <variant>

#include "parity/order.hpp"

namespace perdure::parity {

/// A request that has only an id.
struct AskStanding {
  Bytes id;
  PERDURE_FIELDS(id)
  std::string wrong() const { return wrong_id(id); }
};
struct AskKept {
  Bytes id;
  PERDURE_FIELDS(id)
  std::string wrong() const { return wrong_id(id); }
};
struct Drop {
  Bytes id;
  PERDURE_FIELDS(id)
  std::string wrong() const { return wrong_id(id); }
};
struct OpenMemory {
  Bytes id;
  PERDURE_FIELDS(id)
  std::string wrong() const { return wrong_id(id); }
};
struct AskInventory {
  PERDURE_FIELDS()
};
/// Asks for ids that begin with `prefix` and are above `after`.
struct AskList {
  Bytes prefix;
  Bytes after;
  PERDURE_FIELDS(prefix, after)
  std::string wrong() const { return wrong_id(prefix) + wrong_id(after); }
};
struct Rebuild {
  Bytes id;
  std::uint64_t stripe = 0;
  std::uint16_t position = 0;  ///< position of the lost block
  std::uint64_t bytes = 0;     ///< its length
  /// A survivor. One that the client has is given by position and hash; others name their place.
  struct Source {
    std::uint16_t position = 0;
    base::Hash128 hash;
    std::uint64_t bytes = 0;
    Bytes address;  ///< empty: the client has it
    network::RemoteMemory memory;
    std::uint64_t offset = 0;
    PERDURE_FIELDS(position, hash, bytes, address, memory, offset)
    std::string wrong() const { return wrong_address(address); }
  };
  std::vector<Source> survivors;
  PERDURE_FIELDS(id, stripe, position, bytes, survivors)
  std::string wrong() const { return wrong_id(id); }
};
struct AskRebuilt {
  std::uint64_t ticket = 0;
  PERDURE_FIELDS(ticket)
};
struct EndRebuild {
  std::uint64_t ticket = 0;
  PERDURE_FIELDS(ticket)
};
struct Allocate {
  Bytes id;
  std::uint64_t bytes = 0;
  PERDURE_FIELDS(id, bytes)
  std::string wrong() const { return wrong_id(id); }
};
struct Put {
  Bytes id;
  std::uint64_t offset = 0;
  ConstByteSpan data;  ///< within the frame
  PERDURE_FIELDS(id, offset, data)
  std::string wrong() const { return wrong_id(id); }
};
struct Pull {
  Bytes id;
  std::uint64_t offset = 0;
  network::RemoteMemory memory;  ///< exposed by the asking client
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
  PERDURE_FIELDS(id, offset, memory, from, bytes)
  std::string wrong() const { return wrong_id(id); }
};

using Request = std::variant<Order, AskStanding, AskKept, Drop, OpenMemory, AskInventory, AskList, Rebuild, AskRebuilt,
                             EndRebuild, Allocate, Put, Pull>;

Bytes encode(const Request& request);
Bytes encode(const Order& order);  ///< the same without a copy of the order
/// Fails with PERDURE_CORRUPT unless the bytes are exactly one request within the limits of order.hpp.
base::Result<Request> decode_request(ConstByteSpan frame);

/// The state of a rebuild.
struct Rebuilt {
  Stage stage = Stage::unknown;
  std::uint64_t bytes_pulled = 0;
  base::Error why;
  network::RemoteMemory memory;  ///< of `done`: to be read by the client
  PERDURE_FIELDS(stage, bytes_pulled, why, memory)
};

Bytes encode(const Standing& standing);
Bytes encode(const Kept& kept);  ///< without the id
Bytes encode(const std::vector<Listed>& page);
Bytes encode(const Inventory& inventory);
Bytes encode(const Rebuilt& rebuilt);
Bytes encode(const PoolMemory& memory);  ///< without the id
Bytes encode_ticket(std::uint64_t ticket);

base::Result<Standing> decode_standing(ConstByteSpan reply);
base::Result<Kept> decode_kept(ConstByteSpan reply);
base::Result<std::vector<Listed>> decode_page(ConstByteSpan reply);
base::Result<Inventory> decode_inventory(ConstByteSpan reply);
base::Result<Rebuilt> decode_rebuilt(ConstByteSpan reply);
base::Result<PoolMemory> decode_pool_memory(ConstByteSpan reply);
base::Result<std::uint64_t> decode_ticket(ConstByteSpan reply);

}  // namespace perdure::parity
