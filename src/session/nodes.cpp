#include "session/nodes.hpp"

#include <map>

#include "os/system.hpp"

namespace perdure::session {

std::string node_label(const config::Config& config, int rank) {
  const std::int64_t per_node = config.integer("node.ranks_per_node");
  if (per_node <= 0) return os::host_name();
  return os::host_name() + "#" + std::to_string(rank / per_node);
}

Nodes number_nodes(const std::vector<std::string>& labels, int rank) {
  Nodes nodes;
  std::map<std::string, std::uint32_t> numbers;
  for (const auto& label : labels)
    nodes.node_of_rank.push_back(numbers.try_emplace(label, static_cast<std::uint32_t>(numbers.size())).first->second);
  nodes.mine = nodes.node_of_rank[static_cast<std::size_t>(rank)];
  while (nodes.node_of_rank[static_cast<std::size_t>(nodes.leader)] != nodes.mine) ++nodes.leader;
  return nodes;
}

base::Result<Nodes> find_nodes(comm::Communicator& comm, const std::string& label) {
  PERDURE_TRY(const auto all, comm::allgather_bytes(comm, base::as_bytes(label)));
  std::vector<std::string> labels;
  for (const auto& bytes : all) labels.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return number_nodes(labels, comm.rank());
}

}  // namespace perdure::session
