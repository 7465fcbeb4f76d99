#pragma once
// What fails together: the failure domains of nodes, as the file of option node.topology names them. Pure but for
// read_topology().
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "redundancy/groups.hpp"

namespace perdure::client {

using Topology = std::map<std::string, redundancy::Domains, std::less<>>;  ///< by node label

/// Lines "node chassis rack ...", from the innermost domain outwards, as many on every line; what follows # is a
/// comment. PERDURE_INVALID_ARGUMENT names the line.
base::Result<Topology> parse_topology(std::string_view text, const std::string& file);
/// Empty without a file.
base::Result<Topology> read_topology(const std::string& file);
/// Of each node, in order; none for any when the topology is empty. PERDURE_INVALID_ARGUMENT for a node that is not in
/// it.
base::Result<std::vector<redundancy::Domains>> domains_of(const Topology& topology,
                                                          const std::vector<std::string>& labels);

}  // namespace perdure::client
