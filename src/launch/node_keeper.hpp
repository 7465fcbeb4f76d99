#pragma once
// Manages the nodes of `perdure run --nodes`. After a failed launch it probes those in use, excludes failed ones, and
// gives their positions to spares (plan/node_assignment).
#include <functional>

#include "launch/node_kind.hpp"
#include "plan/node_assignment.hpp"

namespace perdure::launch {

struct NodePolicy {
  std::uint64_t positions = 1;
  std::vector<std::string> exclude;
  bool shrink = false;          ///< continue with fewer nodes if there is no spare
  std::string probe;            ///< shell command that gets the node as its argument; empty: the kind's own
  double probe_timeout_s = 10;  ///< a node that needs longer has failed
};

class NodeKeeper {
 public:
  using Announce = std::function<void(const std::string& line)>;

  /// Chooses the first nodes, and announces them. Fails if there are too few.
  static base::Result<std::unique_ptr<NodeKeeper>> make(std::unique_ptr<NodeKind> kind, NodePolicy policy,
                                                        Announce announce);

  /// Sets up `launch` on the nodes that are in use now.
  base::Result<Launch> launch_on_nodes(const Launch& launch) { return kind_->launch_on(launch, now_.positions); }

  /// Called after a failed launch: excludes and replaces nodes, and reports its decisions. An error: too few nodes are
  /// left. A signal: one asked to stop meanwhile.
  base::Result<std::optional<int>> look_after(Supervisor& supervisor);

  const plan::NodeAssignment& now() const { return now_; }

 private:
  NodeKeeper(std::unique_ptr<NodeKind> kind, NodePolicy policy, Announce announce)
      : kind_(std::move(kind)), policy_(std::move(policy)), announce_(std::move(announce)) {}
  std::vector<std::string> command_for(const std::string& node) const;
  Probed probe(const std::vector<std::string>& nodes, Supervisor& supervisor) const;
  base::Status replace(const std::vector<std::string>& failed);
  void announce_nodes() const;

  std::unique_ptr<NodeKind> kind_;
  NodePolicy policy_;
  Announce announce_;
  plan::NodeAssignment now_;
};

}  // namespace perdure::launch
