#include "client/nodes.hpp"

#include <algorithm>
#include <map>

#include "base/hash.hpp"
#include "client/agreement.hpp"
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

std::uint64_t label_hash(const std::string& label) {
  return label.empty() ? 0 : base::hash64(base::as_bytes(label)) | 1U;
}

Nodes number_nodes(const std::vector<std::uint64_t>& hashes, int rank) {
  Nodes nodes;
  std::map<std::uint64_t, std::uint32_t> numbers;
  nodes.node_of_rank.reserve(hashes.size());
  for (const std::uint64_t hash : hashes)
    nodes.node_of_rank.push_back(numbers.try_emplace(hash, static_cast<std::uint32_t>(numbers.size())).first->second);
  nodes.labels.resize(numbers.size());
  for (const auto& known : numbers) nodes.hashes.push_back(known.first);
  nodes.launch = base::hash64(std::as_bytes(std::span(nodes.hashes)));
  nodes.mine = nodes.node_of_rank[static_cast<std::size_t>(rank)];
  while (nodes.node_of_rank[static_cast<std::size_t>(nodes.leader)] != nodes.mine) ++nodes.leader;
  return nodes;
}

base::Status check_labels(const std::vector<std::uint64_t>& hashes) {
  const auto without = std::find(hashes.begin(), hashes.end(), 0);
  if (without == hashes.end()) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "option node.numbers",
                    "it has no node for rank " + std::to_string(without - hashes.begin()) + " of " +
                        std::to_string(hashes.size()) + " ranks: there are too few numbers",
                    "give one number for every node.ranks_per_node ranks, or start fewer ranks");
}

base::Result<Nodes> find_nodes(comm::Communicator& comm, const std::string& label) {
  const std::uint64_t mine = label_hash(label);
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(comm.size()));
  PERDURE_CHECK(comm.allgather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(hashes))));
  PERDURE_CHECK(check_labels(hashes));
  Nodes nodes = number_nodes(hashes, comm.rank());
  PERDURE_CHECK(comm::tell_all(comm, nodes.speaker(comm.rank()), base::as_bytes(label),
                               [&](std::size_t node, base::ConstByteSpan bytes) -> base::Status {
                                 nodes.labels[node].assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                                 return {};
                               }));
  // Two labels of one hash would be taken for one node.
  base::Status known;
  if (nodes.labels[nodes.mine] != label)
    known = base::fail(PERDURE_INTERNAL, "node " + label, "it cannot be told from " + nodes.labels[nodes.mine],
                       "give one of them another host name");
  PERDURE_CHECK(agree(comm, known));
  return nodes;
}

}  // namespace perdure::client
