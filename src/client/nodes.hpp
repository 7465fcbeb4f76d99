#pragma once
// Finds out which ranks share a node. Pure but for node_label().
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "config/config.hpp"

namespace perdure::client {

struct Nodes {
  std::vector<std::uint32_t> node_of_rank;  ///< nodes are numbered by first appearance
  std::vector<std::string> labels;          ///< by node
  std::uint32_t mine = 0;
  int leader = 0;                          ///< lowest rank of my node
  std::vector<std::uint64_t> hashes = {};  ///< hashes of the labels, ascending: they identify the nodes in 8 bytes each
  std::uint64_t launch = 0;                ///< hash of these: the same for the same nodes, whatever their order
  bool first() const { return mine == 0; }
  /// Gives this rank's place among the leaders, which speak for their nodes.
  comm::Speaker speaker(int rank) const {
    return {labels.size(), rank == leader ? std::optional<std::size_t>(mine) : std::nullopt};
  }
};

/// Gives the number of the simulated node of `rank`; `numbers` empty: nodes are numbered from 0 on. Empty when there
/// are too few numbers.
std::optional<std::uint64_t> simulated_node(std::span<const std::uint32_t> numbers, std::uint64_t ranks_per_node,
                                            std::uint64_t rank);
/// Gives the label that tells this rank's node from others: the host, or with node.ranks_per_node the simulated node,
/// HOST#NUMBER. Empty when node.numbers has too few; all ranks find that out together, in find_nodes().
std::string node_label(const config::Config& config, int rank);
/// Gives the hash that stands for a label between ranks: equal for equal labels; 0 for an empty one.
std::uint64_t label_hash(const std::string& label);
/// Numbers equal hashes equally; the labels stay empty.
Nodes number_nodes(const std::vector<std::uint64_t>& hashes, int rank);
/// PERDURE_INVALID_ARGUMENT if a label is empty.
base::Status check_labels(const std::vector<std::uint64_t>& hashes);
/// [collective] Finds the nodes with 8 bytes of each rank, and the labels of nodes from their leaders.
base::Result<Nodes> find_nodes(comm::Communicator& comm, const std::string& label);

}  // namespace perdure::client
