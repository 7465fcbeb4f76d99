#include "inspect/node_versions.hpp"

#include <algorithm>
#include <map>

#include "base/bytes.hpp"
#include "catalog/catalog.hpp"
#include "config/directories.hpp"
#include "node/directories.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::inspect {
namespace {

constexpr std::uint32_t kMostSimulatedNodes = 4096;
constexpr std::uint64_t kMostCatalogBytes = 1 * base::GiB;

// All ranks' pieces are here. The program may have been told that the version exists, or has died within the call. The
// next start would commit it.
bool may_be_one(const catalog::HeldVersion& held) {
  return !held.committed && held.ranks > 0 && held.pieces.size() == held.ranks;
}

std::string entry_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::vector<JobsDirectory> directories_of_job(const config::Config& config, const std::vector<std::string>& directories,
                                              const std::string& host) {
  if (directories.empty()) return {};
  std::map<std::string, std::string> labels{{config::node_key(config, host), host}};
  if (config.integer("node.ranks_per_node") > 0)
    for (std::uint32_t node = 0; node < kMostSimulatedNodes; ++node) {
      const std::string label = host + "#" + std::to_string(node);
      labels.emplace(config::node_key(config, label), label);
    }
  std::vector<JobsDirectory> found;
  for (const auto& path : directories) {
    const std::string entry = entry_of(path);
    if (const auto known = labels.find(entry.substr(0, entry.rfind('.'))); known != labels.end())
      found.push_back({path, known->second});
  }
  return found;
}

std::vector<JobsDirectory> directories_of_job(const config::Config& config) {
  const auto directories = node::engine_directories(config::node_root(config));
  if (!directories) return {};
  return directories_of_job(config, *directories, os::host_name());
}

// Reads while the engine may write: records appended meanwhile are a torn end.
std::vector<NodeVersion> versions_not_stored(const std::string& directory) {
  std::vector<NodeVersion> found;
  const std::string path = directory + "/catalog";
  const auto log = os::read_file(path, kMostCatalogBytes);
  if (!log) return found;
  catalog::ReplayReport report;
  std::uint64_t good_end = 0;
  const auto state = catalog::replay_bytes(*log, path, report, good_end);
  for (const auto& [id, held] : state.versions)
    if (may_be_one(held) || (held.committed && !held.all_stored()))
      found.push_back({id, held.bytes(), directory, held.committed ? 0 : held.ranks});
  return found;
}

std::vector<NodeVersion> versions_not_stored(const config::Config& config) {
  std::vector<NodeVersion> all;
  for (const auto& place : directories_of_job(config)) {
    auto found = versions_not_stored(place.path);
    all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return all;
}

}  // namespace perdure::inspect
