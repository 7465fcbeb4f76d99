#pragma once
// How requests to a parity server and its answers travel: the payloads of calls of network::Endpoint. A request is a
// magic number, the protocol's version and a verb, then the verb's fields, little-endian. Decoders take any bytes.
#include <optional>
#include <variant>

#include "parity/order.hpp"

namespace perdure::parity {

/// What asks with nothing but an id.
struct AskStanding {
  Bytes id;
};
struct AskKept {
  Bytes id;
};
struct Drop {
  Bytes id;
};
struct OpenMemory {
  Bytes id;
};
struct AskInventory {};
/// Ids that begin with `prefix` and are above `after`.
struct AskList {
  Bytes prefix;
  Bytes after;
};
struct Rebuild {
  Bytes id;
  std::uint64_t stripe = 0;
  std::uint16_t position = 0;  ///< that is lost
  std::uint64_t bytes = 0;     ///< that it had
  /// Of those that the client has: position, and what their content should be. Others name where they are.
  struct Source {
    std::uint16_t position = 0;
    base::Hash128 hash;
    std::uint64_t bytes = 0;
    Bytes address;  ///< empty: the client has it
    network::RemoteMemory memory;
    std::uint64_t offset = 0;
  };
  std::vector<Source> survivors;
};
struct AskRebuilt {
  std::uint64_t ticket = 0;
};
struct EndRebuild {
  std::uint64_t ticket = 0;
};
struct Allocate {
  Bytes id;
  std::uint64_t bytes = 0;
};
struct Put {
  Bytes id;
  std::uint64_t offset = 0;
  ConstByteSpan data;  ///< within the frame
};
struct Pull {
  Bytes id;
  std::uint64_t offset = 0;
  network::RemoteMemory memory;  ///< of who asks
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
};

using Request = std::variant<Order, AskStanding, AskKept, Drop, OpenMemory, AskInventory, AskList, Rebuild, AskRebuilt,
                             EndRebuild, Allocate, Put, Pull>;

Bytes encode(const Request& request);
Bytes encode(const Order& order);  ///< the same without a copy of the order
/// PERDURE_CORRUPT unless the bytes are exactly one request within the limits of order.hpp.
base::Result<Request> decode_request(ConstByteSpan frame);

/// How a rebuild stands.
struct Rebuilt {
  Stage stage = Stage::unknown;
  std::uint64_t bytes_pulled = 0;
  base::Error why;
  network::RemoteMemory memory;  ///< of `done`: what is to be read
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
