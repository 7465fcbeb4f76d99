#pragma once
// Builds the view of this node that placement policies see. Changes nothing.
#include <vector>

#include "engine/ledger/tier_room.hpp"

namespace perdure::engine {

class Outlook {
 public:
  Outlook(const NodeTables& node, const Captures& captures, const RedundancySets& redundancy, const HeldVersions& held,
          const TierRoom& room)
      : node_(node), captures_(captures), redundancy_(redundancy), held_(held), room_(room) {}

  /// Returns, by tier, what a policy would see for a chunk of `request`.
  std::vector<placement::TierState> tiers(ClientId client, const ipc::Grant& request, bool last_chance,
                                          EvictionScope sacrifice = EvictionScope::stored) const;
  /// The same for one tier, without its writers.
  placement::TierState tier(const ipc::Grant& request, std::uint32_t tier, EvictionScope sacrifice) const;
  placement::FlushOutlook flushes() const;
  placement::QueueState queue(const segment::VersionId& id, std::uint64_t waiting) const;
  /// Predicts each tier's read rate for all flushes together. The model of writes serves for reads, too.
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
