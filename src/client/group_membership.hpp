#pragma once
// The nodes of the job form groups that keep redundancy for each other. This has the network between the engines, the
// groups, and the versions that all of them have at level `node`. (docs/adr/0014)
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/agreement.hpp"
#include "client/node_levels.hpp"
#include "client/topology.hpp"
#include "redundancy/groups.hpp"
#include "segment/manifest.hpp"

namespace perdure::client {

class Job;

class GroupMembership {
 public:
  explicit GroupMembership(Job& job) : job_(job) {}
  /// [collective] Called once for each time that engines are attached. Without a group everything works, but levels end
  /// at the node's own.
  base::Status join();
  bool network_open() const { return network_open_; }  ///< the engines reach each other
  bool joined() const { return joined_; }              ///< the engines keep redundancy for each other

  /// Gives the address of a node's engine, if the network is open; for leaders.
  const std::vector<std::byte>& address_of(std::uint32_t node) const { return addresses_.at(node); }

  /// Adds to a checkpoint's opening the versions that this node's engine promises at level `node`.
  void add_node_levels(Opening& opening);
  /// Notes the versions that all engines promise, and the beginning of this attempt.
  void note_node_levels(const segment::VersionId& id, std::uint64_t bits);
  /// True if all engines promised it, and this node's still does.
  bool at_node_level(const segment::VersionId& id);
  /// [collective] True when it is at level `node` on all nodes. `held`: the version, if this rank's node has it.
  /// `found`: whether that could be found out, which the ranks agree on, too.
  base::Result<bool> wait_node_level(const std::optional<segment::VersionId>& held, std::uint64_t timeout_ns,
                                     base::Status found = {});
  /// Replicates again: with other engines the groups are new, and replication in the old ones was abandoned.
  void replicate_unfinished();
  /// [collective] Replicates this version, which was restored, and which the application goes on from.
  base::Status replicate_again(const segment::VersionId& id);

 private:
  bool redundant() const;
  base::Result<bool> keep_anything();
  base::Status unused(const std::string& why);
  void tell(const std::string& name, const std::optional<NodeLevelNews>& news);
  base::Result<bool> ask_again(const segment::VersionId& id);
  base::Status choose_job_key();
  base::Status tell_join(const redundancy::GroupPlan& plan, std::uint64_t epoch);
  using Addresses = std::vector<std::vector<std::byte>>;
  base::Result<std::optional<Addresses>> open_network();
  base::Result<redundancy::GroupPlan> plan_group(const Topology& topology) const;

  Job& job_;
  std::vector<std::byte> job_key_;
  Addresses addresses_;  // addresses of the engines of this launch, by node
  bool network_open_ = false;
  bool joined_ = false;
  NodeLevels levels_;  // versions at level `node` in this launch's groups
};

}  // namespace perdure::client
