#pragma once
// Where the pieces of the version are that was chosen, as all ranks saw it then.
#include <optional>
#include <set>
#include <vector>

#include "client/inventory.hpp"

namespace perdure::client {

class Whereabouts {
 public:
  /// Of no version: nothing is anywhere.
  Whereabouts() = default;
  Whereabouts(Job& job, const segment::VersionId& id, VersionPlan plan, JobInventory all, StoreView store);
  const VersionPlan& plan() const { return plan_; }
  const JobInventory& all() const { return all_; }
  const StoreView& store() const { return store_; }
  /// What the store has of it; nothing where that is nothing.
  const std::optional<StoredVersionView>& stored() const { return stored_; }
  const StoredSegment* segment_of(std::uint32_t rank) const { return stored_ ? stored_->segment_of(rank) : nullptr; }
  /// The rank's data is in slots of this node.
  bool here(std::uint32_t rank) const { return here_.contains(rank); }
  /// This node has got them.
  void bring_here(const std::vector<std::uint32_t>& ranks) { here_.insert(ranks.begin(), ranks.end()); }
  /// A part of it is in a temporary segment, on some node.
  bool spilled() const { return spilled_; }

  /// Who of the nodes knows what is in a rank's piece: where it is, or one of all that can read the store.
  std::uint32_t node_that_knows(std::uint32_t rank) const;
  /// Where this node has a rank's chunks from: its own slots, other nodes' engines, the store.
  enum class Source { here, nodes, store };
  Source source_of(std::uint32_t rank) const;
  /// The engines to ask for these ranks' pieces, or what they are rebuilt from.
  std::vector<ipc::NodeToAsk> nodes_to_ask(const std::vector<std::uint32_t>& ranks) const;

 private:
  const std::vector<std::uint32_t>& places() const;  // of the ranks that wrote

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
