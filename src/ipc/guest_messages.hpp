#pragma once
// Messages about guests, which are chunks that a node has for a restore and does not hold. They go when the client that
// brought them returns them or is gone. Replies about them are true until then (docs/adr/0036).
#include <compare>
#include <string>
#include <vector>

#include "base/field_codec.hpp"
#include "ipc/frame.hpp"
#include "ipc/group_messages.hpp"
#include "ipc/slot_address.hpp"

namespace perdure::ipc {

/// A requested chunk of a version.
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
      false;  ///< else the others had no room, or did not fit into this message: return these, then ask for those
  std::uint64_t bytes_moved = 0;
  std::uint64_t bytes_rebuilt = 0;
  PERDURE_FIELDS(guests, all, bytes_moved, bytes_rebuilt)
};
/// Fetches or rebuilds these chunks of a version into slots of this node as guests of this client, as Recover does for
/// pieces. This node's part of the version stays as it is until Unpin or the end of the connection. Guests that the
/// client has already are not brought again. If one chunk cannot be had, none is brought.
/// Fails with PERDURE_NO_SPACE (retryable) if no new chunk has room, and with PERDURE_INVALID_ARGUMENT for a chunk that
/// its piece does not have.
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
/// Asks for a slot for a guest, which the client writes and reports with GuestWritten. Fails with PERDURE_NO_SPACE
/// (retryable) if there is no room now, and with PERDURE_EXISTS if the client has that guest already.
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
/// The guest is in its slot, and the client has verified it. Repeatable.
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
  bool all = true;                 ///< else there are more after the last of these
  PERDURE_FIELDS(guests, all)
};
/// Asks for the guests of a version that can be read on this node, whoever brought them, from this chunk on.
struct ListGuests {
  static constexpr const char* kName = "list_guests";
  static constexpr Kind kKind = Kind::answered;
  using Reply = GuestList;
  segment::VersionId id;
  WantedChunk from = {};
  PERDURE_FIELDS(id, from)
};
/// Releases all guests of the version that this client brought.
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
  std::vector<PieceDescription> pieces;  ///< ascending; a rank without any data found has none
  bool all = true;                       ///< else ask again for the ranks after the last of these
  PERDURE_FIELDS(pieces, all)
};
/// Asks what these ranks' pieces of a version consist of, including lost pieces that can be rebuilt. The answer comes
/// from what this engine and those of these nodes have. Without nodes it needs no network.
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

/// The size limit of a list in a reply. The rest of the frame is for the reply's other fields.
inline constexpr std::size_t kMostListBytes = kMaxFrame - (64U << 10);
/// Returns how many entries, from the first on, fit into a reply.
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
