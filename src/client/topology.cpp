#include "client/topology.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace perdure::client {

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
    std::istringstream words(line.substr(0, line.find('#')));
    std::string node;
    if (!(words >> node)) continue;
    redundancy::Domains domains{std::istream_iterator<std::string>(words), {}};
    if (domains.empty()) return refuse("node " + node + " is in no failure domain");
    if (depth != 0 && domains.size() != depth)
      return refuse("node " + node + " is in " + std::to_string(domains.size()) + " domains, others are in " +
                    std::to_string(depth));
    depth = domains.size();
    if (!topology.emplace(node, std::move(domains)).second) return refuse("node " + node + " was named before");
  }
  return topology;
}

base::Result<Topology> read_topology(const std::string& file) {
  if (file.empty()) return Topology();
  std::ifstream stream(file);
  if (!stream)
    return base::fail(PERDURE_INVALID_ARGUMENT, file, std::strerror(errno),
                      "give node.topology a file that can be read");
  return parse_topology(std::string{std::istreambuf_iterator<char>(stream), {}}, file);
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
