#pragma once
// The failure domains say which nodes fail together, as the file of option node.topology names them. Pure but for
// share_topology().
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "comm/communicator.hpp"
#include "redundancy/groups.hpp"

namespace perdure::client {

using Topology = std::map<std::string, redundancy::Domains, std::less<>>;  ///< by node label

/// Parses lines "node chassis rack ...", from the innermost domain outwards, as many on every line. A word that begins
/// with # starts a comment (simulated nodes have it in their names). PERDURE_INVALID_ARGUMENT names the line.
base::Result<Topology> parse_topology(std::string_view text, const std::string& file);
/// [collective] Gives rank 0's file on all ranks: groups have to be the same everywhere, whatever lies at that path on
/// other nodes. Empty without a file.
base::Result<Topology> share_topology(comm::Communicator& comm, const std::string& file);
/// Gives the domains of each node, in order; none for any when the topology is empty. PERDURE_INVALID_ARGUMENT for a
/// node that is not in it.
base::Result<std::vector<redundancy::Domains>> domains_of(const Topology& topology,
                                                          const std::vector<std::string>& labels);

}  // namespace perdure::client
