#pragma once
// What simulated nodes and hosts have in common: how a launch learns which nodes to use, and how a node is asked
// whether it works. A node is known by its name: its number, or the host's name.
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/hosts.hpp"
#include "launch/process.hpp"

namespace perdure::launch {

/// What is launched.
struct Launch {
  std::vector<std::string> command;
  Environment environment;
};

class NodeKind {
 public:
  virtual ~NodeKind() = default;
  virtual std::vector<std::string> nodes() const = 0;
  /// `launch`, told to use `positions`; has effect until it is called again.
  virtual base::Result<Launch> launch_on(Launch launch, const std::vector<std::string>& positions) = 0;
  /// A command that ends with 0 when the node works.
  virtual std::vector<std::string> probe(const std::string& node) const = 0;
};

struct SimulatedNodes {
  std::uint64_t positions = 0, spares = 0, ranks_per_node = 0;
  std::string failed_directory;  ///< a file there, named like a node, says that it failed. Empty: none fails
};
/// Ranks learn their nodes from PERDURE_NODE_NUMBERS, and from PERDURE_NODE_RANKS_PER_NODE when there are fewer than
/// `positions`.
std::unique_ptr<NodeKind> make_simulated_nodes(SimulatedNodes nodes);

/// The launcher learns the nodes from a hostfile: in the place of {hostfile} or {hosts} in the command, else as an
/// option of an Open MPI launcher. PERDURE_INVALID_ARGUMENT when the command is neither, or cannot be used for probing
/// and `probed` is false.
base::Result<std::unique_ptr<NodeKind>> make_host_nodes(std::vector<Host> hosts, std::uint64_t positions,
                                                        const std::vector<std::string>& command, bool probed);

/// Adds a variable, or changes it.
void set_variable(Environment& environment, const std::string& name, const std::string& value);
/// "a, b, c".
std::string listed(const std::vector<std::string>& names, const char* separator = ", ");

}  // namespace perdure::launch
