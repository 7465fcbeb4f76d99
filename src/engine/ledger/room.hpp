#pragma once
// What makes room on a tier: a choice over a snapshot. Pure.
#include <cstdint>
#include <vector>

#include "catalog/redundancy_set.hpp"
#include "engine/ledger/version.hpp"

namespace perdure::engine {

/// Which held versions may be given up for room.
enum class EvictionScope {
  stored,     ///< those that are safe in the store
  remains,    ///< also what is here of a version that this launch cannot have
  superseded  ///< while the store fails also others that are not, when a newer one is safe here
};

/// What a tier holds, as far as it can make room.
struct RoomView {
  struct Held {
    segment::VersionId id;
    Life life = Life::none;
    FlushPhase flush = FlushPhase::queued;
    std::uint64_t chunks = 0;     ///< on this tier
    bool pinned = false;          ///< somebody reads it
    bool guarded = false;         ///< other nodes need it
    bool promised = false;        ///< at level node, and nothing newer is on all nodes
    std::size_t unreachable = 0;  ///< pieces on a tier that cannot be reached
    enum class Outcome { known, awaited } outcome = Outcome::known;  ///< awaited: these are remains
  };
  struct Kept {
    catalog::RedundancyId id;
    std::uint64_t blocks = 0;  ///< on this tier
  };
  std::vector<Held> versions;    ///< all that are held, whatever they have on this tier
  std::vector<Kept> obsolete;    ///< redundancy that nobody needs any more
  bool chunks_to_spill = false;  ///< slots of this tier hold chunks that are in a temporary segment, too
  bool store_failing = false;
};

struct RoomWanted {
  enum class For {
    growth,  ///< so that the tier need not grow: only what is in the store goes
    slot     ///< the tier cannot hold the chunk otherwise
  };
  segment::VersionId version;  ///< whose chunk it is: nothing of it goes
  EvictionScope scope = EvictionScope::stored;
  For use = For::slot;
};

struct Eviction {
  enum class What { nothing, version, redundancy, spilled_chunk };
  What what = What::nothing;
  segment::VersionId version;        ///< to drop
  catalog::RedundancyId redundancy;  ///< to drop
};

/// How many blocks of it are on this tier.
std::uint64_t blocks_on(const catalog::RedundancySet& redundancy_set, std::uint32_t tier);
/// Safe in the store, and nobody needs it here.
bool evictable(const RoomView::Held& held);
/// What goes next: the oldest version that is in the store, else redundancy that nobody needs, else a chunk that is in
/// a temporary segment, else the oldest remains, else the oldest version that is superseded and stuck.
Eviction choose_eviction(const RoomView& room, const RoomWanted& wanted);
/// What goes as soon as this version is stored, so that the next of its name finds room: the oldest of its name that is
/// in the store, too, and older, if the new one is whole here.
Eviction choose_ahead(const RoomView& room, const segment::VersionId& stored);

}  // namespace perdure::engine
