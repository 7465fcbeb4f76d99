#pragma once
// These are the options of `perdure run` about nodes.
#include "cli/libraries.hpp"
#include "config/config.hpp"
#include "launch/node_keeper.hpp"

namespace CLI {
class App;
}

namespace perdure::cli {

struct NodeArguments {
  std::uint64_t nodes = 0, spares = 0;  ///< 0 nodes: perdure run does not manage nodes
  std::string hosts, host_file, failed_directory;
  NodePolicy policy;
};

void add_node_options(CLI::App& app, NodeArguments& arguments);

/// Makes the keeper; nullptr without --nodes. `command` is the command to launch.
base::Result<std::unique_ptr<NodeKeeper>> make_node_keeper(const NodeArguments& arguments, const config::Config& config,
                                                           const std::vector<std::string>& command,
                                                           NodeKeeper::Announce announce);

}  // namespace perdure::cli
