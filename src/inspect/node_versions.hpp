#pragma once
// Lists the versions of a job that this machine's nodes have, and the store lacks, as far as the nodes know. It reads
// the catalogs of the engines, whether these live or not.
#include <cstdint>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "segment/manifest.hpp"

namespace perdure::inspect {

/// An engine's directory of the configured store and job.
struct JobsDirectory {
  std::string path, node_label;
};
/// Selects from `directories` (engine_directories()). Nodes are this host, or simulated ones of it.
std::vector<JobsDirectory> directories_of_job(const config::Config& config, const std::vector<std::string>& directories,
                                              const std::string& host);
/// Gives those on this machine.
std::vector<JobsDirectory> directories_of_job(const config::Config& config);

/// A version that all ranks had agreed on, or this node's part of it; or one that has all ranks' pieces here.
struct NodeVersion {
  segment::VersionId id;
  std::uint64_t bytes = 0;
  std::string directory;
  std::uint32_t uncommitted_ranks =
      0;  ///< number of ranks whose pieces are all here, if no commit was seen; otherwise 0
};
/// Lists them by name, version and attempt. A directory without a catalog has none. It never returns PERDURE_CORRUPT:
/// damaged records are left out, as by the next engine.
std::vector<NodeVersion> versions_not_stored(const std::string& directory);
std::vector<NodeVersion> versions_not_stored(const config::Config& config);

}  // namespace perdure::inspect
