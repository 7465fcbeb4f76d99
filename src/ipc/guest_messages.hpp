#pragma once
// Guests: chunks that are on a node for a restore, and not held by it. They go when the client that brought them
// returns them or is gone. What a client is told of them is true until then. (docs/adr/0036)
#include <compare>
#include <string>
#include <vector>

#include "base/field_codec.hpp"
#include "ipc/frame.hpp"
#include "ipc/group_messages.hpp"
#include "ipc/slot_address.hpp"

namespace perdure::ipc {

/// A chunk of a version that is wanted.
struct WantedChunk {
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  friend auto operator<=>(const WantedChunk&, const WantedChunk&) = default;
  PERDURE_FIELDS(rank, chunk)
};
/// A chunk that can be read here: `length` bytes of its slot, with this hash.
struct GuestChunk {
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  SlotAddress slot;
  std::uint64_t length = 0;
  base::Hash128 hash;
  PERDURE_FIELDS(rank, chunk, slot, length, hash)
  std::string wrong() const { return length <= slot.capacity ? "" : "field 'length' is more than its slot has"; }
};

struct RecoveredGuests {
  std::vector<GuestChunk> guests;  ///< ascending
  bool all =
      false;  ///< else there was no room for the others, or not in this message: return these, then ask for those
  std::uint64_t bytes_moved = 0;
  std::uint64_t bytes_rebuilt = 0;
  PERDURE_FIELDS(guests, all, bytes_moved, bytes_rebuilt)
};
/// Fetch or rebuild these chunks of a version into slots of this node as guests of this client, as Recover does for
/// pieces. What this node has of the version stays as it is until Unpin or the end of the connection. What the client
/// has brought already is not brought again. Of what cannot be had none is brought. PERDURE_NO_SPACE (retryable) when
/// there is no room for any that was not here, PERDURE_INVALID_ARGUMENT for a chunk that its piece does not have.
struct RecoverGuests {
  static constexpr const char* kName = "recover_guests";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = RecoveredGuests;
  segment::VersionId id;
  std::uint32_t ranks = 0;  ///< of the version
  std::vector<WantedChunk> wanted;
  std::vector<NodeToAsk> nodes;
  PERDURE_FIELDS(id, ranks, wanted, nodes)
  std::string wrong() const;  ///< `wanted` does not ascend, or names a rank that is not below `ranks`
};

struct GuestSlot {
  SlotAddress slot;
  PERDURE_FIELDS(slot)
};
/// A slot for a guest of this client, which writes it and says GuestWritten. PERDURE_NO_SPACE (retryable) when there is
/// no room now, PERDURE_EXISTS when it has that guest already.
struct GrantGuest {
  static constexpr const char* kName = "grant_guest";
  static constexpr Kind kKind = Kind::answered;
  using Reply = GuestSlot;
  segment::VersionId id;
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  std::uint64_t bytes = 0;
  PERDURE_FIELDS(id, rank, chunk, bytes)
  std::string wrong() const { return bytes != 0 ? "" : "field 'bytes' is 0"; }
};
/// It is in its slot, and the client has verified it. Repeatable.
struct GuestWritten {
  static constexpr const char* kName = "guest_written";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  segment::VersionId id;
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  std::uint64_t length = 0;
  base::Hash128 hash;
  PERDURE_FIELDS(id, rank, chunk, length, hash)
  std::string wrong() const { return length != 0 ? "" : "field 'length' is 0"; }
};

struct GuestList {
  std::vector<GuestChunk> guests;  ///< ascending
  bool all = true;                 ///< else there are more behind the last of these
  PERDURE_FIELDS(guests, all)
};
/// The guests of a version that can be read on this node, whoever brought them, from this chunk on.
struct ListGuests {
  static constexpr const char* kName = "list_guests";
  static constexpr Kind kKind = Kind::answered;
  using Reply = GuestList;
  segment::VersionId id;
  WantedChunk from = {};
  PERDURE_FIELDS(id, from)
};
/// All guests of the version that this client brought go.
struct ReleaseGuests {
  static constexpr const char* kName = "release_guests";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  segment::VersionId id;
  PERDURE_FIELDS(id)
};

/// A piece without the hashes of its chunks: chunk c has the bytes from c * chunk_bytes on.
struct PieceDescription {
  std::uint32_t rank = 0;
  std::uint64_t chunk_bytes = 0;
  std::uint32_t chunks = 0;
  std::vector<segment::RegionEntry> regions;
  PERDURE_FIELDS(rank, chunk_bytes, chunks, regions)
  std::string wrong() const { return chunk_bytes != 0 ? "" : "field 'chunk_bytes' is 0"; }
};
struct PieceDescriptions {
  std::vector<PieceDescription> pieces;  ///< ascending; of a rank of which nothing is found there is none
  bool all = true;                       ///< else ask again for the ranks behind the last of these
  PERDURE_FIELDS(pieces, all)
};
/// What these ranks' pieces of a version consist of, out of what this engine and those of these nodes have, also of
/// pieces that are lost and can be rebuilt. Without nodes it takes no network.
struct DescribePieces {
  static constexpr const char* kName = "describe_pieces";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = PieceDescriptions;
  segment::VersionId id;
  std::uint32_t ranks = 0;  ///< of the version
  std::vector<std::uint32_t> wanted;
  std::vector<NodeToAsk> nodes;
  PERDURE_FIELDS(id, ranks, wanted, nodes)
  std::string wrong() const;  ///< `wanted` does not ascend, or names a rank that is not below `ranks`
};

/// What a list in a reply may take: the rest of its frame is for what else it says.
inline constexpr std::size_t kMostListBytes = kMaxFrame - (64U << 10);
/// So many of these, from the first on, fit into a reply.
template <class T>
std::size_t fitting(const std::vector<T>& list, std::size_t most_bytes = kMostListBytes) {
  std::size_t count = 0, bytes = 0;
  std::vector<std::byte> one;
  for (const T& item : list) {
    one.clear();
    base::FieldWriter(one).write(item);
    bytes += one.size();
    if (bytes > most_bytes) break;
    ++count;
  }
  return count;
}

using GuestMessages = Messages<RecoverGuests, GrantGuest, GuestWritten, ListGuests, ReleaseGuests, DescribePieces>;

}  // namespace perdure::ipc
