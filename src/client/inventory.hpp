#pragma once
// What all engines of the job hold, and where a version can be had then. Pure but for gather_inventories(). What nodes
// tell all ranks is of a size that does not grow with the ranks of a node; what they keep for each other is told only
// of versions and ranks that may need it. (docs/adr/0020)
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "client/sources.hpp"
#include "comm/communicator.hpp"
#include "ipc/messages.hpp"
#include "plan/layout.hpp"
#include "plan/recovery.hpp"

namespace perdure::client {

class Job;

/// What the engine of one node holds of one version, as it is told. (ipc::HeldSummary)
struct ToldVersion {
  struct Segment {
    std::uint32_t index = 0, count = 0;
    base::Runs<std::uint32_t> ranks;
    PERDURE_FIELDS(index, count, ranks)
  };
  segment::VersionId id;
  std::uint32_t ranks = 0;
  bool committed = false;
  bool stored = false;
  base::Runs<std::uint32_t> held, spilled, unreachable;
  std::vector<Segment> begun, segments;
  ipc::CaptureNodes capture_nodes = ipc::CaptureNodes::unknown;
  bool capturing = false;
  PERDURE_FIELDS(id, ranks, committed, stored, held, spilled, unreachable, begun, segments, capture_nodes, capturing)
};
/// That it keeps something of a version for other nodes.
struct ToldKept {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  PERDURE_FIELDS(id, ranks)
};
/// What it keeps of a version, which is told where that may be needed.
struct ToldShare {
  segment::VersionId id;
  plan::RedundancyShare share;
  PERDURE_FIELDS(id, share)
};
/// What one node tells all ranks.
struct ToldHoldings {
  std::vector<ToldVersion> held;
  std::vector<ToldKept> kept;
  std::optional<std::vector<ToldShare>> shares;  ///< all of them, where that is little
  PERDURE_FIELDS(held, kept, shares)
};
/// So much of what all nodes keep goes with the inventories, which saves two collectives after a loss.
inline constexpr std::size_t kInlineShares = 256 << 10;
/// By node `node` of so many.
ToldHoldings holdings_to_tell(const ipc::Holdings& reply, std::uint32_t node, std::size_t nodes);

struct NodeHolding {
  std::uint32_t node = 0;
  ToldVersion held;
};

/// What all engines of the job have.
struct JobInventory {
  std::vector<NodeHolding> held;
  std::vector<std::pair<std::uint32_t, ToldKept>> kept;                          ///< with the node
  std::map<segment::VersionId, std::vector<plan::RedundancyShare>> shares = {};  ///< as far as they were told
  std::set<segment::VersionId> untold = {};  ///< of which some node has not told what it keeps
  /// Adds what a node told.
  void add(std::uint32_t node, ToldHoldings told);
};

/// [collective] What all engines hold. An engine that cannot say what it holds must not be taken for one that holds
/// nothing: then nobody decides anything.
base::Result<JobInventory> gather_inventories(Job& job);

/// The segments of a version that engines have written or will write.
std::vector<plan::SegmentPart> committed_parts(const std::vector<NodeHolding>& all, const segment::VersionId& id);
/// The same, and what the store has.
std::vector<plan::SegmentPart> known_parts(const segment::VersionId& id, const JobInventory& all,
                                           const StoreView& store);

struct VersionPlan {
  plan::RecoveryPlan pieces;
  bool on_nodes = false;    ///< engines that reach each other have something of it
  std::uint32_t ranks = 0;  ///< that wrote it
  std::vector<std::uint32_t> node_of_rank =
      {};  ///< where they count as being, where they are not as many as there are now
};
struct VersionPlans {
  std::map<segment::VersionId, VersionPlan> of;  ///< versions that can be asked for
  std::uint32_t other_ranks = 0;                 ///< some version has so many, and cannot be asked for; 0: none
};
/// Of every attempt at a version that somebody has something of. `network`: engines reach each other; otherwise a rank
/// has what its own node and the store have, and so it is for versions of `not_fetched` that these are enough for.
/// `any_ranks`: versions of other numbers of ranks can be asked for, too; of these a node without network has what is
/// in the store, and all that is on nodes where it is the only one.
VersionPlans plan_versions(const JobInventory& all, const StoreView& store,
                           const std::vector<std::uint32_t>& node_of_rank, bool network,
                           const std::set<segment::VersionId>& not_fetched = {}, bool any_ranks = false);
/// Which versions are asked for: `version` negative: all, but those that are excluded. Of this line; empty: of all
/// branches.
struct Candidates {
  std::int64_t version = -1;
  const std::set<segment::VersionId>& excluded;
  plan::Line line = {};
  bool contain(const segment::VersionId& id) const;
};
/// The newest, which is what was begun later, that every rank can have.
std::optional<segment::VersionId> choose_version(const VersionPlans& plans, const Candidates& candidates);

/// Ranks whose redundancy has to be known before a version is chosen, by version; nothing where nothing is lost.
using Wanting = std::map<segment::VersionId, std::vector<bool>>;
/// The ranks that have no data in place, of each candidate of which some node has not told what it keeps, down to the
/// newest that can be had without.
Wanting wanting(const VersionPlans& plans, const JobInventory& all, const Candidates& candidates);
/// What this node tells of what it keeps: groups that have one of these ranks.
std::vector<ToldShare> shares_to_tell(std::uint32_t node, const std::vector<ipc::RedundancySummary>& kept,
                                      const Wanting& wanting);
/// [collective] Tells it, and plans these versions anew. `keeps_all`: this rank is to tell its engine whom to ask; the
/// others keep in `all` what decides whether a lost piece can be had.
base::Status gather_shares(comm::Communicator& comm, const comm::Speaker& leader, const std::vector<ToldShare>& mine,
                           const Wanting& wanting, bool keeps_all, JobInventory& all, const StoreView& store,
                           const std::vector<std::uint32_t>& node_of_rank, VersionPlans& plans);

/// Whom to ask for these ranks' pieces of a version, where engines reach each other.
std::vector<plan::NodeQuestion> nodes_to_ask(const segment::VersionId& id, const JobInventory& all,
                                             const StoreView& store, const std::vector<std::uint32_t>& node_of_rank,
                                             const std::vector<std::uint32_t>& wanted);

/// It is on other nodes, or can be rebuilt from them.
bool to_fetch(plan::PieceSource source);

}  // namespace perdure::client
