#pragma once
// Simulated nodes and hosts share this interface: it tells a launch which nodes to use, and probes a node. A node is
// known by its name: its number, or the host's name.
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/hosts.hpp"
#include "launch/process.hpp"

namespace perdure::launch {

/// The command of a launch, and its environment.
struct Launch {
  std::vector<std::string> command;
  Environment environment;
};

class NodeKind {
 public:
  virtual ~NodeKind() = default;
  virtual std::vector<std::string> nodes() const = 0;
  /// Returns `launch`, set up to use `positions`; it has effect until the next call.
  virtual base::Result<Launch> launch_on(Launch launch, const std::vector<std::string>& positions) = 0;
  /// Returns a command that ends with 0 if the node works.
  virtual std::vector<std::string> probe(const std::string& node) const = 0;
};

struct SimulatedNodes {
  std::uint64_t positions = 0, spares = 0, ranks_per_node = 0;
  std::string failed_directory;  ///< a file there, named like a node, says that it failed. Empty: none fails
};
/// Ranks learn their nodes from PERDURE_NODE_NUMBERS, and from PERDURE_NODE_RANKS_PER_NODE if there are fewer than
/// `positions`.
std::unique_ptr<NodeKind> make_simulated_nodes(SimulatedNodes nodes);

/// Passes the nodes to the launcher in a hostfile. It replaces {hostfile} or {hosts} in the command, or becomes an
/// option of an Open MPI launcher. PERDURE_INVALID_ARGUMENT: the command is neither, or it cannot be used for probing
/// and `probed` is false.
base::Result<std::unique_ptr<NodeKind>> make_host_nodes(std::vector<Host> hosts, std::uint64_t positions,
                                                        const std::vector<std::string>& command, bool probed);

/// Adds a variable, or changes it.
void set_variable(Environment& environment, const std::string& name, const std::string& value);
/// Returns "a, b, c".
std::string listed(const std::vector<std::string>& names, const char* separator = ", ");

}  // namespace perdure::launch
