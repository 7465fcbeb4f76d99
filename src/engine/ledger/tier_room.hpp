#pragma once
// Room on tiers: what goes when a slot is wanted, and whether any can come at all.
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

  /// What the tier holds, as far as it can make room.
  RoomView observe(std::uint32_t tier) const;
  /// Until the tier can hold so many bytes for this version. False when it cannot: nothing more may go.
  bool make(std::uint32_t tier, std::uint64_t bytes, const segment::VersionId& for_version, EvictionScope sacrifice);
  /// This version was stored, and took one short chunk of each rank. Room for the next of its kind is made now, so that
  /// its ranks, which wait for the engine's answer only, need not wait for that. Nothing is done where there is room.
  void make_ahead(const segment::VersionId& stored);
  /// Waiting for a slot makes sense: something can free one that this client's rank can write.
  bool may_become_free(ClientId client, const ipc::Grant& request) const;
  /// Why the catalog refused to let something go, since refusals were forgotten.
  const std::optional<base::Error>& refused() const { return refused_; }
  void forget_refusal() { refused_.reset(); }

  // ---- for redundancy
  /// For a block of redundancy of this version, or a chunk of it that comes from other nodes. PERDURE_NO_SPACE when
  /// only what is nowhere else could make room, or more than `most` allows.
  base::Result<tier::SlotAddress> take_for_redundancy(const segment::VersionId& id, std::uint64_t bytes,
                                                      EvictionScope most = EvictionScope::remains);
  /// A slot that is free and that no capture under way will need: redundancy that is built during a capture must not
  /// make captures wait.
  base::Result<tier::SlotAddress> take_spare(const segment::VersionId& id, std::uint64_t bytes);
  void give_back(SlotKey slot);  ///< it was taken for redundancy, and will not be kept

  // ---- slots whose chunk is also in its temporary segment: they are used again when somebody needs them
  // (docs/adr/0005)
  std::uint64_t count_flushed(std::uint32_t tier) const;
  /// Chunks of the version that are in its temporary segment, and in their slots as long as nobody needs those.
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
