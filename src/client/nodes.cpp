#include "client/nodes.hpp"

#include <algorithm>
#include <map>

#include "base/hash.hpp"
#include "config/node_numbers.hpp"
#include "os/system.hpp"

namespace perdure::client {

std::optional<std::uint64_t> simulated_node(std::span<const std::uint32_t> numbers, std::uint64_t ranks_per_node,
                                            std::uint64_t rank) {
  const std::uint64_t place = rank / ranks_per_node;
  if (numbers.empty()) return place;
  if (place >= numbers.size()) return std::nullopt;
  return numbers[place];
}

std::string node_label(const config::Config& config, int rank) {
  const std::int64_t per_node = config.integer("node.ranks_per_node");
  if (per_node <= 0) return os::host_name();
  const auto numbers = config::parse_node_numbers(config.text("node.numbers")).numbers;
  const auto number = simulated_node(numbers, static_cast<std::uint64_t>(per_node), static_cast<std::uint64_t>(rank));
  if (!number) return {};
  return os::host_name() + "#" + std::to_string(*number);
}

Nodes number_nodes(const std::vector<std::string>& labels, int rank) {
  Nodes nodes;
  std::map<std::string, std::uint32_t> numbers;
  for (const auto& label : labels) {
    const auto [known, added] = numbers.try_emplace(label, static_cast<std::uint32_t>(numbers.size()));
    if (added) nodes.labels.push_back(label);
    nodes.node_of_rank.push_back(known->second);
  }
  for (const auto& label : nodes.labels) nodes.hashes.push_back(base::hash64(base::as_bytes(label)));
  std::sort(nodes.hashes.begin(), nodes.hashes.end());
  nodes.launch = base::hash64(std::as_bytes(std::span(nodes.hashes)));
  nodes.mine = nodes.node_of_rank[static_cast<std::size_t>(rank)];
  while (nodes.node_of_rank[static_cast<std::size_t>(nodes.leader)] != nodes.mine) ++nodes.leader;
  return nodes;
}

base::Status check_labels(const std::vector<std::string>& labels) {
  std::size_t rank = 0;
  while (rank < labels.size() && !labels[rank].empty()) ++rank;
  if (rank == labels.size()) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "option node.numbers",
                    "it has no node for rank " + std::to_string(rank) + " of " + std::to_string(labels.size()) +
                        " ranks: there are too few numbers",
                    "give one number for every node.ranks_per_node ranks, or start fewer ranks");
}

base::Result<Nodes> find_nodes(comm::Communicator& comm, const std::string& label) {
  PERDURE_TRY(const auto all, comm::allgather_bytes(comm, base::as_bytes(label)));
  std::vector<std::string> labels;
  for (const auto& bytes : all) labels.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  PERDURE_CHECK(check_labels(labels));
  return number_nodes(labels, comm.rank());
}

}  // namespace perdure::client
