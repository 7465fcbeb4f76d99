#include "client/topology.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>

#include "client/agreement.hpp"

namespace perdure::client {
namespace {

base::Result<std::vector<std::byte>> read_topology_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return base::fail(PERDURE_INVALID_ARGUMENT, file, std::strerror(errno),
                      "give node.topology a file that rank 0 can read");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace

base::Result<Topology> parse_topology(std::string_view text, const std::string& file) {
  Topology topology;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0, depth = 0;
  const auto refuse = [&](const std::string& cause) {
    return base::fail(PERDURE_INVALID_ARGUMENT, file + ", line " + std::to_string(number), cause,
                      "write: node chassis rack, the same number of names on every line");
  };
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    redundancy::Domains domains;
    for (std::string word; words >> word && word.front() != '#';) domains.push_back(std::move(word));
    if (domains.empty()) continue;
    const std::string node = std::move(domains.front());
    domains.erase(domains.begin());
    if (domains.empty()) return refuse("node " + node + " is in no failure domain");
    if (depth != 0 && domains.size() != depth)
      return refuse("node " + node + " is in " + std::to_string(domains.size()) + " domains, others are in " +
                    std::to_string(depth));
    depth = domains.size();
    if (!topology.emplace(node, std::move(domains)).second) return refuse("node " + node + " was named before");
  }
  return topology;
}

// Sends, at 4,096 nodes, some 200 KiB, once for each handle.
base::Result<Topology> share_topology(comm::Communicator& comm, const std::string& file) {
  Topology topology;
  if (file.empty()) return topology;  // an option, which all ranks have in common
  std::vector<std::byte> text;
  PERDURE_CHECK(agree_after(comm, "topology", [&]() -> base::Status {
    if (comm.rank() != 0) return {};
    PERDURE_TRY(text, read_topology_file(file));
    return {};
  }));
  PERDURE_TRY(text, comm::broadcast_bytes(comm, text, 0));
  PERDURE_CHECK(agree_after(comm, "topology", [&]() -> base::Status {
    PERDURE_TRY(topology, parse_topology({reinterpret_cast<const char*>(text.data()), text.size()}, file));
    return {};
  }));
  return topology;
}

base::Result<std::vector<redundancy::Domains>> domains_of(const Topology& topology,
                                                          const std::vector<std::string>& labels) {
  std::vector<redundancy::Domains> domains;
  for (const auto& label : labels) {
    const auto known = topology.find(label);
    if (known == topology.end() && !topology.empty())
      return base::fail(PERDURE_INVALID_ARGUMENT, "node " + label, "the topology does not name it",
                        "add it to the file of node.topology");
    domains.push_back(known == topology.end() ? redundancy::Domains() : known->second);
  }
  return domains;
}

}  // namespace perdure::client
