#pragma once
// The nodes of the job as groups that keep something for each other: the network between the engines, who is with whom,
// and what all of them have reached. (docs/adr/0014)
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
  /// [collective] Once for each time that engines are attached. Without a group everything works, but levels end at the
  /// node's own.
  base::Status join();
  bool network_open() const { return network_open_; }  ///< the engines reach each other
  bool joined() const { return joined_; }              ///< and keep something for each other

  /// Of the engine of a node, where the network is open; for leaders.
  const std::vector<std::byte>& address_of(std::uint32_t node) const { return addresses_.at(node); }

  /// What this node's engine promises at level `node` goes with the beginning of a checkpoint.
  void add_node_levels(Opening& opening);
  /// What all promise then; and this attempt begins.
  void note_node_levels(const segment::VersionId& id, std::uint64_t bits);
  /// All engines promised it, and this node's still does.
  bool at_node_level(const segment::VersionId& id);
  /// [collective] True when it is at level `node` on all nodes. `held`: the version, where this rank's node has it;
  /// `found`: whether that could be found out, which the ranks agree on, too.
  base::Result<bool> wait_node_level(const std::optional<segment::VersionId>& held, std::uint64_t timeout_ns,
                                     base::Status found = {});
  /// With other engines the groups are new, and what was under way in the old ones was given up: begins again.
  void replicate_unfinished();
  /// [collective] This version was restored, and the application goes on from it.
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
  Addresses addresses_;  // of the engines of this launch, by node
  bool network_open_ = false;
  bool joined_ = false;
  NodeLevels levels_;  // of this launch's groups
};

}  // namespace perdure::client
