#pragma once
// Claims the directory that holds a node's data of one job: lock, catalog, socket, log and the tiers' slots. It is
// keyed by store, job and node, so that a restarted job finds its data. It is numbered, so that a job with another
// configuration gets its own engine (docs/adr/0003).
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "config/config.hpp"
#include "config/directories.hpp"
#include "node/reclaim.hpp"
#include "os/file.hpp"

namespace perdure::engine {

/// The directories of one engine; all are private to the user.
struct NodePaths {
  std::string node;                               ///< <node.path>/<key>.<instance>
  std::map<std::string, std::string> tiers = {};  ///< of the slots, by the tier's name
  std::string socket() const { return node + "/socket"; }
  std::string errors() const { return node + "/engine.errors"; }  ///< perdured's standard error
};

/// The right to be the node's engine. It holds the lock until it is destroyed.
struct Claim {
  NodePaths paths;
  os::File lock;
  std::string node_label = {};
};
/// Another process is the engine for the same job, store and configuration.
struct Existing {
  NodePaths paths;
};

using config::job_key;
using config::node_key;

/// Returns the instances of this store, job and node that live engines with other configurations hold.
std::vector<NodePaths> held_by_others(const config::Config& config, const std::string& node_label);

/// Returns the live engine with our fingerprint, or takes a free instance: one that such an engine left, else the
/// lowest. Fails with PERDURE_BUSY if 64 other engines live. If there is no room for a lock, residue of dead engines is
/// reclaimed.
base::Result<std::variant<Claim, Existing>> claim(const config::Config& config, const std::string& node_label);

/// Reclaims residue of dead engines of other jobs that their stores have. Leaves the directory of `claim` alone.
node::Reclaimed reclaim_room(const config::Config& config, const Claim& claim, std::function<bool()> stop);

/// Removes the directories of a claim that holds no data any more.
void remove_directories(const Claim& claim);

}  // namespace perdure::engine
