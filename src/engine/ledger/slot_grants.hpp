#pragma once
// Serves requests of ranks for slots: a placement policy chooses the tier, and room is made on it.
#include <string>
#include <utility>
#include <vector>

#include "engine/ledger/decision_log.hpp"
#include "engine/ledger/outlook.hpp"
#include "ipc/slot_address.hpp"

namespace perdure::engine {

/// Puts a slot's address into the form that messages to clients have.
inline ipc::SlotAddress address_in_message(const tier::SlotAddress& slot) {
  return {slot.tier, slot.slot, slot.path, slot.offset, slot.capacity, slot.mapped, slot.fresh, slot.access};
}

/// Facts about the producers that the node does not know.
struct GrantContext {
  std::uint64_t waiting = 1;  ///< ranks that wait for a slot, including the one that asks
  std::uint32_t rank = 0;     ///< the rank that asks
  bool last_chance = false;   ///< it will not be asked again, so a slow tier is better than none
  bool only_stored = false;   ///< room may come from elsewhere, so evict only what is in the store
};

/// The answer to a request for a slot.
struct GrantOutcome {
  enum class Kind { granted, wait, refused } kind = Kind::wait;
  tier::SlotAddress address;
  base::Error error;
};

class SlotGrants {
 public:
  SlotGrants(NodeTables& node, Captures& captures, SlotWrites& writes, TierRoom& room, const Outlook& outlook)
      : node_(node), captures_(captures), writes_(writes), room_(room), outlook_(outlook) {}

  /// A rank announces its piece. A capture that contradicts itself is flushed after the commit only.
  void begin_capture(ClientId client, const ipc::Begin& begin);
  GrantOutcome grant(ClientId client, const ipc::Grant& request, const GrantContext& context = {});
  /// Returns free slots reserved for this client, with the bytes it will need in each.
  std::vector<std::pair<tier::SlotAddress, std::uint64_t>> reserve(ClientId client,
                                                                   const std::vector<std::uint64_t>& chunk_bytes);
  const DecisionLog& decisions() const { return decisions_; }

 private:
  void consider_write_through(const segment::VersionId& id, const GrantOutcome& outcome);
  std::size_t avoid_tiers(const ipc::Grant& request);
  bool place(ClientId client, const ipc::Grant& request, const GrantContext& context, EvictionScope sacrifice,
             GrantOutcome& outcome);
  bool take_slot(ClientId client, const ipc::Grant& request, std::uint32_t tier, EvictionScope sacrifice,
                 GrantOutcome& outcome);

  NodeTables& node_;
  Captures& captures_;
  SlotWrites& writes_;
  TierRoom& room_;
  const Outlook& outlook_;
  DecisionLog decisions_ = {};
};

}  // namespace perdure::engine
