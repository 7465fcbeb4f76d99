#pragma once
// What a placement policy is shown of this node. Changes nothing.
#include <vector>

#include "engine/ledger/tier_room.hpp"

namespace perdure::engine {

class Outlook {
 public:
  Outlook(const NodeTables& node, const Captures& captures, const RedundancySets& redundancy, const HeldVersions& held,
          const TierRoom& room)
      : node_(node), captures_(captures), redundancy_(redundancy), held_(held), room_(room) {}

  /// What a policy would be shown for a chunk of `request`, by tier.
  std::vector<placement::TierState> tiers(ClientId client, const ipc::Grant& request, bool last_chance,
                                          EvictionScope sacrifice = EvictionScope::stored) const;
  /// The same of one tier, without who writes to it.
  placement::TierState tier(const ipc::Grant& request, std::uint32_t tier, EvictionScope sacrifice) const;
  placement::FlushOutlook flushes() const;
  placement::QueueState queue(const segment::VersionId& id, std::uint64_t waiting) const;
  /// What each tier gives to all flushes together, as predicted. A model of writes stands for reads.
  std::vector<double> read_bytes_per_s() const;

 private:
  bool will_be_flushed(const segment::VersionId& id, const Version& version) const;

  const NodeTables& node_;
  const Captures& captures_;
  const RedundancySets& redundancy_;
  const HeldVersions& held_;
  const TierRoom& room_;
};

}  // namespace perdure::engine
