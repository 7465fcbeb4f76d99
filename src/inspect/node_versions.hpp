#pragma once
// What this machine's nodes have of a job, and the store lacks as far as they know: read out of the catalogs of its
// engines, whether these live or not.
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
/// Of these `directories` (engine_directories()). Nodes are this host, or simulated ones of it.
std::vector<JobsDirectory> directories_of_job(const config::Config& config, const std::vector<std::string>& directories,
                                              const std::string& host);
/// Those on this machine.
std::vector<JobsDirectory> directories_of_job(const config::Config& config);

/// A version that all ranks had agreed on, or this node's part of it; or one that has all ranks' pieces here.
struct NodeVersion {
  segment::VersionId id;
  std::uint64_t bytes = 0;
  std::string directory;
  std::uint32_t uncommitted_ranks = 0;  ///< how many ranks' pieces are all here, of one that no commit was seen of
};
/// By name, version and attempt. A directory without a catalog has none; PERDURE_CORRUPT never: what is damaged is left
/// out, as the next engine does.
std::vector<NodeVersion> versions_not_stored(const std::string& directory);
std::vector<NodeVersion> versions_not_stored(const config::Config& config);

}  // namespace perdure::inspect
