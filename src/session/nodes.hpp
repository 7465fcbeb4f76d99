#pragma once
// Which ranks share a node. Pure but for node_label().
#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "config/config.hpp"

namespace perdure::session {

struct Nodes {
  std::vector<std::uint32_t> node_of_rank;  ///< nodes are numbered by first appearance
  std::uint32_t mine = 0;
  int leader = 0;  ///< lowest rank of my node
  bool first() const { return mine == 0; }
};

/// What tells this rank's node from others: the host, or with node.ranks_per_node the simulated node.
std::string node_label(const config::Config& config, int rank);
/// Numbers equal labels equally.
Nodes number_nodes(const std::vector<std::string>& labels, int rank);
base::Result<Nodes> find_nodes(comm::Communicator& comm, const std::string& label);

}  // namespace perdure::session
