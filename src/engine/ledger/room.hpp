#pragma once
// Chooses what to evict from a tier, from a snapshot. Pure.
#include <cstdint>
#include <vector>

#include "catalog/redundancy_set.hpp"
#include "engine/ledger/version.hpp"

namespace perdure::engine {

/// Which held versions may be evicted.
enum class EvictionScope {
  stored,     ///< those that are safe in the store
  remains,    ///< also remains of a version that this launch cannot have
  superseded  ///< while the store fails, also unstored ones if a newer one is safe here
};

/// The content of a tier, as far as it matters for making room.
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
    enum class Outcome { known, awaited } outcome = Outcome::known;  ///< awaited: the version is remains
  };
  struct Kept {
    catalog::RedundancyId id;
    std::uint64_t blocks = 0;  ///< on this tier
  };
  std::vector<Held> versions;    ///< all that are held, wherever their chunks are
  std::vector<Kept> obsolete;    ///< redundancy that nobody needs
  bool chunks_to_spill = false;  ///< slots of this tier hold chunks that are in a temporary segment, too
  bool store_failing = false;
};

struct RoomWanted {
  enum class For {
    growth,  ///< so that the tier need not grow: evicts only what is in the store
    slot     ///< the tier cannot hold the chunk otherwise
  };
  segment::VersionId version;  ///< the version of the chunk that needs room; nothing of it is evicted
  EvictionScope scope = EvictionScope::stored;
  For use = For::slot;
};

struct Eviction {
  enum class What { nothing, version, redundancy, spilled_chunk };
  What what = What::nothing;
  segment::VersionId version;        ///< to drop
  catalog::RedundancyId redundancy;  ///< to drop
};

/// Counts the set's blocks on this tier.
std::uint64_t blocks_on(const catalog::RedundancySet& redundancy_set, std::uint32_t tier);
/// True if the version is safe in the store and nobody needs it here.
bool evictable(const RoomView::Held& held);
/// Chooses what to evict next. The oldest version in the store goes first, then redundancy that nobody needs, then a
/// chunk that is in a temporary segment. Last go the oldest remains, then the oldest version that is superseded and
/// stuck.
Eviction choose_eviction(const RoomView& room, const RoomWanted& wanted);
/// Chooses what to evict once this version is stored, so that the next of its name finds room. That is the oldest older
/// version of its name that is in the store, too, if the new one is whole here.
Eviction choose_ahead(const RoomView& room, const segment::VersionId& stored);

}  // namespace perdure::engine
