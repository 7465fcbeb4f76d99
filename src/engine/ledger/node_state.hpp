#pragma once
// What the engine knows and decides about slots and versions, put together from its parts. No threads and no sockets
// here: callers hold the engine's lock.
#include <optional>
#include <string>
#include <vector>

#include "engine/ledger/slot_grants.hpp"

namespace perdure::engine {

class NodeState {
 public:
  NodeState(catalog::Catalog catalog, std::vector<std::unique_ptr<tier::Tier>> tiers, Reports& reports,
            NodeStateOptions options = {});
  NodeState(const NodeState&) = delete;
  NodeState& operator=(const NodeState&) = delete;

  /// Records the tiers, marks the catalog's slots as in use, drops what cannot be there any more, queues unfinished
  /// flushes.
  base::Status recover();
  /// `rank`: what it said it is; nothing for a tool.
  void client_gone(ClientId client, std::optional<std::uint32_t> rank = std::nullopt);
  /// This client was the application's own for so long, until now.
  void step(ClientId client, double seconds);
  /// For compact_catalog().
  catalog::Catalog& catalog() { return node_.catalog; }

  // ---- looking
  /// What the catalog says of the version; nullptr: nothing of it is held here.
  const catalog::HeldVersion* find(const segment::VersionId& id) const { return node_.held(id); }
  /// Its record; nullptr: nothing of it is held here.
  const Version* version(const segment::VersionId& id) const { return node_.held_version(id); }
  const std::map<segment::VersionId, catalog::HeldVersion>& versions() const { return node_.catalog.state().versions; }
  /// Of all versions that this node has to do with, those that are captured among them.
  const Versions& tracked() const { return node_.versions; }
  /// Dropped before it reached the store, to make room.
  bool lost(const segment::VersionId& id) const { return node_.versions.lost(id); }
  tier::SlotAddress address(const segment::ChunkEntry& chunk) const { return node_.address(chunk); }
  std::uint64_t pending_bytes() const;
  std::size_t pending_versions() const;  ///< committed, not stored, not given up
  std::size_t given_up_versions() const;
  /// Why the newest version that is not stored could not be flushed; nothing when no flush failed.
  std::optional<base::Error> last_flush_error() const;
  bool holds_unstored() const;       ///< anything whose only copy is here
  std::uint64_t slot_bytes() const;  ///< the largest chunk that every tier takes
  std::vector<std::unique_ptr<tier::Tier>>& tiers() { return node_.tiers; }
  const NodeStateOptions& options() const { return node_.options; }
  const Observations& observed() const { return node_.observed; }
  /// Of flushes that run: is told whether they read or store. Needs no ledger, and lives as long as this.
  FlushMeter& flush_meter() { return node_.flush_meter; }
  const FlushMeter& flush_meter() const { return node_.flush_meter; }
  bool store_failing() const { return node_.store_failing; }
  Counters& counters() { return node_.counters; }
  const Counters& counters() const { return node_.counters; }

 private:
  NodeTables node_;

 public:  // each uses those before it
  Captures captures{node_};
  SlotWrites writes{node_, captures};
  RedundancySets redundancy{node_};
  HeldVersions held{node_, captures, writes, redundancy};
  Flushes flushes{node_, captures, redundancy, held};
  Guests guests{node_};
  TierRoom room{node_, captures, writes, redundancy, held, flushes, guests};
  Outlook outlook{node_, captures, redundancy, held, room};
  SlotGrants grants{node_, captures, writes, room, outlook};
};

}  // namespace perdure::engine
