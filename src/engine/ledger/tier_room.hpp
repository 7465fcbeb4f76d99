#pragma once
// Makes room on tiers: what is evicted when a slot is wanted, and whether one can become free at all.
#include <optional>

#include "engine/ledger/flushes.hpp"
#include "engine/ledger/guests.hpp"
#include "engine/ledger/room.hpp"

namespace perdure::engine {

class TierRoom {
 public:
  TierRoom(NodeTables& node, Captures& captures, SlotWrites& writes, RedundancySets& redundancy, HeldVersions& held,
           Flushes& flushes, const Guests& guests)
      : node_(node),
        captures_(captures),
        writes_(writes),
        redundancy_(redundancy),
        held_(held),
        flushes_(flushes),
        guests_(guests) {}

  /// Returns the tier's content, as far as it matters for making room.
  RoomView observe(std::uint32_t tier) const;
  /// Evicts until the tier can hold `bytes` for this version. False if it cannot: nothing more may be evicted.
  bool make(std::uint32_t tier, std::uint64_t bytes, const segment::VersionId& for_version, EvictionScope sacrifice);
  /// This version was stored, and took one short chunk of each rank. Evicts now for the next of its kind, so that its
  /// ranks need not wait for that. Does nothing if there is room.
  void make_ahead(const segment::VersionId& stored);
  /// True if waiting for a slot makes sense: something can free one that this client's rank can write.
  bool may_become_free(ClientId client, const ipc::Grant& request) const;
  /// The error for which the catalog refused to let something go, since forget_refusal().
  const std::optional<base::Error>& refused() const { return refused_; }
  void forget_refusal() { refused_.reset(); }

  // ---- for redundancy
  /// Takes a slot for a redundancy block of this version, or for a chunk of it from other nodes. Fails with
  /// PERDURE_NO_SPACE if only data without another copy could make room, or more than `most` allows.
  base::Result<tier::SlotAddress> take_for_redundancy(const segment::VersionId& id, std::uint64_t bytes,
                                                      EvictionScope most = EvictionScope::remains);
  /// Takes a free slot that no capture under way will need. Redundancy that is built during a capture must not make
  /// captures wait.
  base::Result<tier::SlotAddress> take_spare(const segment::VersionId& id, std::uint64_t bytes);
  void give_back(SlotKey slot);  ///< it was taken for redundancy, and will not be kept

  // ---- slots whose chunk is also in its temporary segment: they are reused when somebody needs them (docs/adr/0005)
  std::uint64_t count_flushed(std::uint32_t tier) const;
  /// Counts chunks of the version that are in its temporary segment, and also in their slots while nobody needs those.
  std::uint64_t chunks_to_spill(const segment::VersionId& id) const;
  std::uint64_t spilled_chunks() const { return spilled_chunks_; }  ///< since the engine began

 private:
  bool must_go_first(std::uint32_t tier, std::uint64_t bytes) const;
  base::Result<tier::SlotAddress> take_slot(const segment::VersionId& id, std::uint64_t bytes, EvictionScope scope);
  bool evict(std::uint32_t tier, const Eviction& chosen);
  bool evict(const segment::VersionId& id);
  void note_lost(const segment::VersionId& id);
  bool may_spill(const segment::VersionId& id) const;
  bool spill_one(std::uint32_t tier);
  base::Status spill(const segment::VersionId& id, SlotKey slot, const Version::Flushed& flushed);

  NodeTables& node_;
  Captures& captures_;
  SlotWrites& writes_;
  RedundancySets& redundancy_;
  HeldVersions& held_;
  Flushes& flushes_;
  const Guests& guests_;
  std::optional<base::Error> refused_;
  std::uint64_t spilled_chunks_ = 0;
};

}  // namespace perdure::engine
