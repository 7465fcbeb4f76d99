#pragma once
// Assembles, from its parts, what the engine knows and decides about slots and versions. It has no threads and no
// sockets. Callers hold the engine's lock.
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

  /// Records the tiers, marks the catalog's slots as in use, drops impossible versions, and queues unfinished flushes.
  base::Status recover();
  /// `rank`: the rank that the client declared; nullopt for a tool.
  void client_gone(ClientId client, std::optional<std::uint32_t> rank = std::nullopt);
  /// This client has run application code for `seconds`, until now.
  void step(ClientId client, double seconds);
  /// For compact_catalog().
  catalog::Catalog& catalog() { return node_.catalog; }

  // ---- queries
  /// Returns the catalog's entry of the version; nullptr if nothing of it is held here.
  const catalog::HeldVersion* find(const segment::VersionId& id) const { return node_.held(id); }
  /// Returns its record; nullptr if nothing of it is held here.
  const Version* version(const segment::VersionId& id) const { return node_.held_version(id); }
  const std::map<segment::VersionId, catalog::HeldVersion>& versions() const { return node_.catalog.state().versions; }
  /// Returns all versions that concern this node, including those being captured.
  const Versions& tracked() const { return node_.versions; }
  /// True if it was dropped before it reached the store, to make room.
  bool lost(const segment::VersionId& id) const { return node_.versions.lost(id); }
  tier::SlotAddress address(const segment::ChunkEntry& chunk) const { return node_.address(chunk); }
  std::uint64_t pending_bytes() const;
  std::size_t pending_versions() const;  ///< committed, not stored, not given up
  std::size_t given_up_versions() const;
  /// Returns the error of the newest unstored version's flush; nullopt if no flush failed.
  std::optional<base::Error> last_flush_error() const;
  bool holds_unstored() const;       ///< some data's only copy is here
  std::uint64_t slot_bytes() const;  ///< the largest chunk that every tier takes
  std::vector<std::unique_ptr<tier::Tier>>& tiers() { return node_.tiers; }
  const NodeStateOptions& options() const { return node_.options; }
  const Observations& observed() const { return node_.observed; }
  /// Meters running flushes, which tell it whether they read or store. It needs no ledger, and lives as long as this
  /// object.
  FlushMeter& flush_meter() { return node_.flush_meter; }
  const FlushMeter& flush_meter() const { return node_.flush_meter; }
  bool store_failing() const { return node_.store_failing; }
  Counters& counters() { return node_.counters; }
  const Counters& counters() const { return node_.counters; }

 private:
  NodeTables node_;

 public:  // each part uses those before it
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
