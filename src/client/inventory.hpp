#pragma once
// Gathers the holdings of all engines of the job, and plans where each version can be had. Pure but for
// gather_inventories(). The size of a node's message does not grow with its ranks. Redundancy is told only for versions
// and ranks that may need it. (docs/adr/0020)
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

/// A version as the engine of one node holds it, told to all ranks. (ipc::HeldSummary)
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
/// Says that a node keeps redundancy of a version for other nodes.
struct ToldKept {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  PERDURE_FIELDS(id, ranks)
};
/// The redundancy of a version that a node keeps, told if it may be needed.
struct ToldShare {
  segment::VersionId id;
  plan::RedundancyShare share;
  PERDURE_FIELDS(id, share)
};
/// The message of one node to all ranks.
struct ToldHoldings {
  std::vector<ToldVersion> held;
  std::vector<ToldKept> kept;
  std::optional<std::vector<ToldShare>> shares;  ///< all shares, if they are small
  PERDURE_FIELDS(held, kept, shares)
};
/// Shares of all nodes go with the inventories up to this size, which saves two collectives after a loss.
inline constexpr std::size_t kInlineShares = 256 << 10;
/// Makes the message of node `node`, one of `nodes`.
ToldHoldings holdings_to_tell(const ipc::Holdings& reply, std::uint32_t node, std::size_t nodes);

struct NodeHolding {
  std::uint32_t node = 0;
  ToldVersion held;
};

/// The holdings of all engines of the job.
struct JobInventory {
  std::vector<NodeHolding> held;
  std::vector<std::pair<std::uint32_t, ToldKept>> kept;                          ///< redundancy, with its node
  std::map<segment::VersionId, std::vector<plan::RedundancyShare>> shares = {};  ///< as far as they were told
  std::set<segment::VersionId> untold = {};  ///< versions whose redundancy some node has not told
  /// Adds the message of a node.
  void add(std::uint32_t node, ToldHoldings told);
};

/// [collective] Gathers the holdings of all engines. Fails if an engine cannot say what it holds: it must not count as
/// holding nothing.
base::Result<JobInventory> gather_inventories(Job& job);

/// The segments of a version that engines have written or will write.
std::vector<plan::SegmentPart> committed_parts(const std::vector<NodeHolding>& all, const segment::VersionId& id);
/// The same, and the segments in the store.
std::vector<plan::SegmentPart> known_parts(const segment::VersionId& id, const JobInventory& all,
                                           const StoreView& store);

struct VersionPlan {
  plan::RecoveryPlan pieces;
  bool on_nodes = false;    ///< engines that reach each other have something of it
  std::uint32_t ranks = 0;  ///< ranks that wrote it
  std::vector<std::uint32_t> node_of_rank =
      {};  ///< the nodes that ranks count as being on, if there is another number of ranks now
};
struct VersionPlans {
  std::map<segment::VersionId, VersionPlan> of;  ///< versions that can be asked for
  std::uint32_t other_ranks = 0;  ///< a number of ranks of some version that cannot be asked for; 0: there is none
};
/// Plans every attempt at a version of which any data exists. `network`: engines reach each other. Otherwise a rank has
/// the data of its own node and the store. The same holds for versions of `not_fetched` for which these are enough.
/// `any_ranks`: versions of other numbers of ranks can be asked for, too. A node without network has their data in the
/// store, and, if it is the only node, all data on nodes.
VersionPlans plan_versions(const JobInventory& all, const StoreView& store,
                           const std::vector<std::uint32_t>& node_of_rank, bool network,
                           const std::set<segment::VersionId>& not_fetched = {}, bool any_ranks = false);
/// The versions that are asked for: version `version`, or if negative all, except the excluded ones. They are on this
/// line; empty: on any branch.
struct Candidates {
  std::int64_t version = -1;
  const std::set<segment::VersionId>& excluded;
  plan::Line line = {};
  bool contain(const segment::VersionId& id) const;
};
/// Chooses the newest version, which is the one begun last, that every rank can have.
std::optional<segment::VersionId> choose_version(const VersionPlans& plans, const Candidates& candidates);

/// Ranks whose redundancy must be known before a version is chosen, by version; empty if nothing is lost.
using Wanting = std::map<segment::VersionId, std::vector<bool>>;
/// Gives the ranks that have no data in place, for each candidate whose redundancy some node has not told. It ends at
/// the newest candidate that needs no redundancy.
Wanting wanting(const VersionPlans& plans, const JobInventory& all, const Candidates& candidates);
/// Selects the redundancy that this node tells: groups that have one of these ranks.
std::vector<ToldShare> shares_to_tell(std::uint32_t node, const std::vector<ipc::RedundancySummary>& kept,
                                      const Wanting& wanting);
/// [collective] Tells it, and plans these versions anew. `keeps_all`: this rank is to tell its engine whom to ask. The
/// others keep in `all` only the facts that decide whether a lost piece can be had.
base::Status gather_shares(comm::Communicator& comm, const comm::Speaker& leader, const std::vector<ToldShare>& mine,
                           const Wanting& wanting, bool keeps_all, JobInventory& all, const StoreView& store,
                           const std::vector<std::uint32_t>& node_of_rank, VersionPlans& plans);

/// Gives the nodes to ask for these ranks' pieces of a version, if engines reach each other.
std::vector<plan::NodeQuestion> nodes_to_ask(const segment::VersionId& id, const JobInventory& all,
                                             const StoreView& store, const std::vector<std::uint32_t>& node_of_rank,
                                             const std::vector<std::uint32_t>& wanted);

/// Tells whether the piece is on other nodes, or can be rebuilt from them.
bool to_fetch(plan::PieceSource source);

}  // namespace perdure::client
