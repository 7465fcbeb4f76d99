#pragma once
// Where a node keeps what belongs to one job: lock, catalog, socket, log and the tiers' slots. Keyed by store, job and
// node, so that a restarted job finds its data; numbered, so that a job with another configuration gets an engine of
// its own (docs/adr/0003).
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

/// Directories of one engine; all are private to the user.
struct NodePaths {
  std::string node;                               ///< <node.path>/<key>.<instance>
  std::map<std::string, std::string> tiers = {};  ///< of the slots, by the tier's name
  std::string socket() const { return node + "/socket"; }
  std::string errors() const { return node + "/engine.errors"; }  ///< what perdured writes to standard error
};

/// This process may be the node's engine: it holds the lock until this is destroyed.
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

/// The instances of this store, job and node that live engines with other configurations hold.
std::vector<NodePaths> held_by_others(const config::Config& config, const std::string& node_label);

/// Names the live engine with our fingerprint, or takes a free instance: one that such an engine left, else the lowest.
/// PERDURE_BUSY when 64 other engines live. Where there is no room for a lock, what dead engines left makes some.
base::Result<std::variant<Claim, Existing>> claim(const config::Config& config, const std::string& node_label);

/// What dead engines of other jobs left, and their stores have, makes room. `claim`: whose directory is left alone.
node::Reclaimed reclaim_room(const config::Config& config, const Claim& claim, std::function<bool()> stop);

/// Removes the directories of a claim that holds nothing any more.
void remove_directories(const Claim& claim);

}  // namespace perdure::engine
