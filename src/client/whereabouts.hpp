#pragma once
// Keeps the places of the chosen version's pieces, as all ranks saw them then.
#include <optional>
#include <set>
#include <vector>

#include "client/inventory.hpp"

namespace perdure::client {

class Whereabouts {
 public:
  /// Is empty: no version is chosen.
  Whereabouts() = default;
  Whereabouts(Job& job, const segment::VersionId& id, VersionPlan plan, JobInventory all, StoreView store);
  const VersionPlan& plan() const { return plan_; }
  const JobInventory& all() const { return all_; }
  const StoreView& store() const { return store_; }
  /// The store's part of it; nothing if there is none.
  const std::optional<StoredVersionView>& stored() const { return stored_; }
  const StoredSegment* segment_of(std::uint32_t rank) const { return stored_ ? stored_->segment_of(rank) : nullptr; }
  /// Tells whether the rank's data is in slots of this node.
  bool here(std::uint32_t rank) const { return here_.contains(rank); }
  /// Notes that this node has got their data.
  void bring_here(const std::vector<std::uint32_t>& ranks) { here_.insert(ranks.begin(), ranks.end()); }
  /// Tells whether a part of it is in a temporary segment, on some node.
  bool spilled() const { return spilled_; }

  /// Gives the node that knows the content of a rank's piece: the node that has it, or one of all that can read the
  /// store.
  std::uint32_t node_that_knows(std::uint32_t rank) const;
  /// The source from which this node has a rank's chunks: its own slots, other nodes' engines, the store.
  enum class Source { here, nodes, store };
  Source source_of(std::uint32_t rank) const;
  /// Gives the engines to ask for these ranks' pieces, or for the data from which these are rebuilt.
  std::vector<ipc::NodeToAsk> nodes_to_ask(const std::vector<std::uint32_t>& ranks) const;

 private:
  const std::vector<std::uint32_t>& places() const;  // nodes of the ranks that wrote

  Job* job_ = nullptr;
  segment::VersionId id_;
  VersionPlan plan_;
  JobInventory all_;
  StoreView store_;
  std::optional<StoredVersionView> stored_;
  std::set<std::uint32_t> here_;
  bool spilled_ = false;
};

}  // namespace perdure::client
