#pragma once
// Defines clients' orders to a parity server, and its answers. Plain data; frames.hpp has the encoding.
//
// Stripe s of an order consists of the s-th block of each of its members. A block that is shorter than the longest of
// its stripe counts as padded with zeros, one that its member does not have as empty. The parity is as long as the
// longest.
#include <vector>

#include "base/hash.hpp"
#include "network/remote_memory.hpp"

namespace perdure::parity {

using base::ByteSpan;
using base::ConstByteSpan;
using network::Bytes;

inline constexpr std::size_t kMaxId = 1024;        ///< bytes; at least 1
inline constexpr std::size_t kMaxNote = 4U << 20;  ///< bytes
inline constexpr std::size_t kMaxAddress = 1024;   ///< bytes
inline constexpr std::size_t kMaxMembers = 255;
inline constexpr std::size_t kMaxBlocks = 1U << 18;  ///< of all members of an order together

/// Bytes [offset, offset + bytes) of a member's exposed memory, and their hash.
struct Block {
  network::RemoteMemory memory;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  base::Hash128 hash;
};

struct Member {
  Bytes address;  ///< of the endpoint that exposes its blocks
  std::vector<Block> blocks;
};

/// `id` is a name that the client chooses, 1 to kMaxId bytes. find() returns `note`, at most kMaxNote bytes.
struct Order {
  Bytes id;
  Bytes note;
  std::vector<Member> members;
};

/// Checks the received address of an endpoint.
inline std::string wrong_address(const Bytes& address) {
  return address.size() <= kMaxAddress ? "" : "field 'address' has more than 1024 bytes";
}
/// Checks a received id.
inline std::string wrong_id(const Bytes& id) {
  return id.size() <= kMaxId ? "" : "field 'id' has more than 1024 bytes";
}

enum class Stage : std::uint8_t {
  unknown,    ///< never ordered, dropped, or the server was restarted since
  ordered,    ///< there is room for it; nothing was read yet
  under_way,  ///< its members are being read
  done,       ///< the parities are there
  failed,     ///< it was begun and given up; its room is free again
};
constexpr Stage greatest(Stage) { return Stage::failed; }

struct Standing {
  Stage stage = Stage::unknown;
  std::uint64_t bytes_pulled = 0;  ///< read so far
  std::uint64_t bytes = 0;         ///< of all blocks
  base::Error why;                 ///< of `failed`
  PERDURE_FIELDS(stage, bytes_pulled, bytes, why)
};

struct ParityBlock {
  std::uint64_t bytes = 0;
  base::Hash128 hash;
  friend bool operator==(const ParityBlock&, const ParityBlock&) = default;
  PERDURE_FIELDS(bytes, hash)
};

/// The server's record of an order that is done.
struct Kept {
  Bytes id;
  Bytes note;
  std::vector<ParityBlock> parities;  ///< by stripe
  PERDURE_FIELDS(note, parities)      // the asking client knows the id
  std::string wrong() const { return note.size() <= kMaxNote ? "" : "field 'note' has more than 4 MiB"; }
};

/// One entry in a server's list.
struct Listed {
  Bytes id;
  bool memory = false;  ///< allocated by allocate(), not ordered
  Stage stage = Stage::unknown;
  std::uint64_t bytes = 0;  ///< of the pool
  friend bool operator==(const Listed&, const Listed&) = default;
  PERDURE_FIELDS(id, memory, stage, bytes)
  std::string wrong() const { return wrong_id(id); }
};

struct Inventory {
  std::uint64_t pool_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t largest_free_bytes = 0;  ///< in one piece
  std::uint64_t orders = 0;              ///< in any stage
  std::uint64_t under_way = 0;           ///< orders and rebuilds
  std::uint64_t memories = 0;            ///< allocated
  std::uint64_t bytes_pulled = 0;        ///< from members, since it was started
  std::uint64_t refused = 0;             ///< malformed requests, since it was started
  PERDURE_FIELDS(pool_bytes, free_bytes, largest_free_bytes, orders, under_way, memories, bytes_pulled, refused)
};

/// A block of the stripe that still exists: `here`, in the caller's memory, or exposed by some endpoint.
struct Survivor {
  unsigned position = 0;  ///< index of its member in the order
  ConstByteSpan here;     ///< used if `address` is empty; the hash is block.hash
  Bytes address;
  Block block;
};

/// The lost block.
struct Missing {
  unsigned position = 0;
  std::uint64_t stripe = 0;
  base::Hash128 hash;
};

/// Memory of the pool that clients use freely.
struct PoolMemory {
  Bytes id;
  std::uint64_t bytes = 0;
  network::RemoteMemory memory;  ///< readable; put() writes
  PERDURE_FIELDS(bytes, memory)  // the asking client knows the id
};

}  // namespace perdure::parity
