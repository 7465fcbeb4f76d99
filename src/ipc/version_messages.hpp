#pragma once
// Clients query and change the versions that a node holds with these messages.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ipc/message.hpp"
#include "ipc/planned_segment.hpp"
#include "ipc/slot_address.hpp"
#include "plan/lineage.hpp"
#include "segment/manifest.hpp"

namespace perdure::ipc {

/// Whether all nodes that captured a version are among those of Inventory::launch.
enum class CaptureNodes : std::uint8_t { unknown, all_here, some_away };
constexpr CaptureNodes greatest(CaptureNodes) { return CaptureNodes::some_away; }

/// A node's part of one version.
struct HeldSummary {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  std::vector<std::uint32_t> held;  ///< ranks whose piece is here and restorable
  bool committed = false;
  bool stored = false;                        ///< this node's segments are in the store
  std::vector<std::uint32_t> spilled;         ///< ranks whose piece is here, partly in a temporary segment
  std::vector<PlannedSegment> begun;          ///< the segments that the spilled pieces are tied to
  std::vector<PlannedSegment> segments = {};  ///< committed segments: in the store, or all of it is here to be written
  std::vector<std::uint32_t> unreachable =
      {};  ///< ranks whose piece is on a tier that cannot be reached in this launch
  CaptureNodes capture_nodes = CaptureNodes::unknown;  ///< of a version that is not committed
  bool capturing = false;  ///< its ranks are connected and will decide its outcome; until then it counts as committed
  PERDURE_FIELDS(id, ranks, held, committed, stored, spilled, begun, segments, unreachable, capture_nodes, capturing)
};
/// A node's redundancy for its group, as far as plan/recovery needs it.
struct RedundancySummary {
  segment::VersionId id;
  std::uint32_t ranks = 0;  ///< of the whole version
  std::uint64_t epoch = 0;
  std::uint32_t group = 0;
  std::string scheme;
  std::uint32_t parities = 0;
  std::uint32_t position = 0;
  struct Member {
    std::uint32_t rank = 0;
    std::uint64_t chunks = 0;
    friend bool operator==(const Member&, const Member&) = default;
    PERDURE_FIELDS(rank, chunks)
  };
  std::vector<std::vector<Member>> members;  ///< by position
  std::vector<std::uint64_t> missing;        ///< blocks that it should keep and lacks: numbers as in redundancy::Item
  PERDURE_FIELDS(id, ranks, epoch, group, scheme, parities, position, members, missing)
  std::string wrong() const;  ///< its position is outside the group
};
struct Holdings {
  std::vector<HeldSummary> held;
  std::optional<std::vector<RedundancySummary>> kept;  ///< if requested
  PERDURE_FIELDS(held, kept)
};
/// Asks for this node's versions. `name` empty: of all names.
struct Inventory {
  static constexpr const char* kName = "inventory";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = Holdings;
  std::string name;
  bool kept = false;         ///< also the redundancy for other nodes, which requires a look at every block of it
  std::uint64_t launch = 0;  ///< the LaunchNodes that asks; 0: it does not matter
  PERDURE_FIELDS(name, kept, launch)
};

struct Located {
  segment::Piece piece;
  std::vector<SlotAddress> slots;                ///< by chunk; without a path: it is in `temporary`, at chunk.offset
  std::vector<std::uint32_t> quarantined;        ///< chunks that must not be read
  std::optional<PlannedSegment> temporary = {};  ///< the segment with such chunks, published or not
  PERDURE_FIELDS(piece, slots, quarantined, temporary)
  std::string wrong() const {
    return slots.size() == piece.chunks.size() ? "" : "field 'slots' has not one for each chunk";
  }
};
/// Asks where a rank's piece is. Keeps its slots from being recycled until Unpin or the end of the connection.
struct Locate {
  static constexpr const char* kName = "locate";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Located;
  segment::VersionId id;
  std::uint32_t rank = 0;
  PERDURE_FIELDS(id, rank)
};
struct Unpin {
  static constexpr const char* kName = "unpin";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  PERDURE_FIELDS()
};
struct Quarantine {
  static constexpr const char* kName = "quarantine";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  segment::VersionId id;
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  std::string why;
  PERDURE_FIELDS(id, rank, chunk, why)
};
/// This rank's restore is over. Reports how many bytes of its piece it read from each source.
struct Restored {
  static constexpr const char* kName = "restored";
  static constexpr Kind kKind = Kind::one_way;
  std::uint64_t slot_bytes = 0;   ///< from this node's tiers
  std::uint64_t store_bytes = 0;  ///< from the store
  PERDURE_FIELDS(slot_bytes, store_bytes)
};
/// Drops all attempts at a version on this node; the first node's engine also removes it from the store. Waits for a
/// running flush of it.
struct Retire {
  static constexpr const char* kName = "retire";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = Done;
  std::string name;
  std::optional<std::uint64_t> version;                                ///< nullopt: all of them
  std::uint64_t until_ns = std::numeric_limits<std::uint64_t>::max();  ///< attempts that began later stay
  plan::Line line = {};  ///< attempts that are not on it stay; empty: those of all branches go
  PERDURE_FIELDS(name, version, until_ns, line)
  std::string wrong() const { return segment::VersionId{name, version.value_or(0), {}}.wrong(); }
  bool names(const segment::VersionId& id) const {
    return id.name == name && (!version || id.version == *version) && id.attempt.created_ns <= until_ns &&
           (line.empty() || plan::on_line(line, id.attempt));
  }
};

/// The incarnation of the store's directory of a name (store::Store::incarnation), as rank 0 saw it.
struct StoreIncarnation {
  static constexpr const char* kName = "store incarnation";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  std::string name;
  std::uint64_t incarnation = 0;
  PERDURE_FIELDS(name, incarnation)
  std::string wrong() const { return segment::VersionId{name, 0, {}}.wrong(); }
};

/// The store lost these segments, which this node had stored. Those whose chunks are all still here are stored again.
/// Segments that this node does not hold, or has not stored, are left alone.
struct SegmentsGone {
  static constexpr const char* kName = "segments_gone";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  segment::VersionId id;
  std::vector<std::uint32_t> segments;  ///< their indices
  PERDURE_FIELDS(id, segments)
};

using VersionMessages =
    Messages<Inventory, Locate, Unpin, Quarantine, Restored, Retire, StoreIncarnation, SegmentsGone>;

}  // namespace perdure::ipc
