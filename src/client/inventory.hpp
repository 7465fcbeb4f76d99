#pragma once
// What all engines of the job hold, and where a version can be had then. Pure but for gather_inventories().
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "client/sources.hpp"
#include "ipc/messages.hpp"
#include "plan/layout.hpp"
#include "plan/recovery.hpp"

namespace perdure::client {

class Job;

/// What the engine of one node holds of one version.
struct NodeHolding {
  std::uint32_t node = 0;
  ipc::HeldSummary held;
};

/// What all engines of the job have.
struct JobInventory {
  std::vector<NodeHolding> held;
  std::vector<std::pair<std::uint32_t, ipc::RedundancySummary>> kept;  ///< with the node
  /// Adds the reply of a node's engine to an Inventory; "kept" only where it was asked for.
  void add(std::uint32_t node, ipc::Holdings reply);
};

/// [collective] All engines' answers. An engine that cannot say what it holds must not be taken for one that holds
/// nothing: then nobody decides anything.
base::Result<JobInventory> gather_inventories(Job& job, const ipc::Inventory& question);

/// The segments of a version that engines have written or will write.
std::vector<plan::SegmentPart> committed_parts(const std::vector<NodeHolding>& all, const segment::VersionId& id);
/// The same, and what the store has.
std::vector<plan::SegmentPart> known_parts(const segment::VersionId& id, const JobInventory& all,
                                           const StoreView& store);

struct VersionPlan {
  std::vector<plan::PieceSource> sources;  ///< by rank
  bool on_nodes = false;                   ///< engines that reach each other have something of it
};
struct VersionPlans {
  std::map<segment::VersionId, VersionPlan> of;  ///< versions of as many ranks as there are now
  std::uint32_t other_ranks = 0;                 ///< some version has so many; 0: none
};
/// Of every attempt at a version that somebody has something of. `network`: engines reach each other; otherwise a rank
/// has what its own node and the store have.
VersionPlans plan_versions(const JobInventory& all, const StoreView& store,
                           const std::vector<std::uint32_t>& node_of_rank, bool network);
/// The newest that every rank can have; `version` negative: of all versions.
std::optional<segment::VersionId> choose_version(const VersionPlans& plans, std::int64_t version,
                                                 const std::set<segment::VersionId>& excluded, std::uint32_t ranks);

/// Whom to ask for these ranks' pieces of a version, where engines reach each other.
std::vector<plan::NodeQuestion> nodes_to_ask(const segment::VersionId& id, const JobInventory& all,
                                             const StoreView& store, const std::vector<std::uint32_t>& node_of_rank,
                                             const std::vector<std::uint32_t>& wanted);

/// It is on other nodes, or can be rebuilt from them.
bool to_fetch(const plan::PieceSource& source);
/// The first rank's that is nowhere, or the end.
std::vector<plan::PieceSource>::const_iterator first_lost(const std::vector<plan::PieceSource>& sources);

}  // namespace perdure::client
