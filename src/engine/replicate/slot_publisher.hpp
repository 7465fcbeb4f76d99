#pragma once
// Makes the slots of this node's versions readable for the other positions, as they are written and when they are
// committed. Mapping and registering takes time, so it holds no lock of others meanwhile.
#include <map>

#include "engine/replicate/group_link.hpp"
#include "engine/replicate/replication_events.hpp"
#include "engine/replicate/replication_ledger.hpp"

namespace perdure::engine {

/// The published slots of one version. Used by one thread at a time.
struct PublishedSlots {
  std::size_t seen = 0;                           ///< how much of the capture's news was taken
  std::map<std::uint64_t, base::Hash128> hashes;  ///< by block
};

class SlotPublisher {
 public:
  explicit SlotPublisher(ReplicationLedger& ledger) : ledger_(ledger) {}

  struct Followed {
    bool over = false;  ///< the capture ended without a commit
    std::uint32_t ranks = 0;
    /// nullopt: there is nothing to replicate now.
    std::optional<event::CapturePublished> published = {};
  };
  /// Publishes slots written since the last call. Captures of fewer bytes than `least` are not published.
  base::Result<Followed> follow(GroupLink& link, const segment::VersionId& id, std::uint64_t least,
                                PublishedSlots& slots);
  /// Publishes the rest of a committed version, of the pieces of these ranks (none: of all).
  base::Result<event::Published> publish(GroupLink& link, const segment::VersionId& id,
                                         const std::set<std::uint32_t>& ranks, PublishedSlots& slots);

 private:
  static base::Result<std::vector<OfferedBlock>> place(GroupLink& link, const segment::VersionId& id,
                                                       const std::vector<BlockInSlot>& blocks, PublishedSlots& slots);

  ReplicationLedger& ledger_;
};

}  // namespace perdure::engine
