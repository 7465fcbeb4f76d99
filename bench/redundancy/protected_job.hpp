#pragma once
// One handle of Perdure as the benchmarks use it: opened with a scheme, in directories of its own. Several may be open
// beside each other, so that schemes take turns within a repetition.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "perdure/perdure_mpi.h"

namespace perdure::redundancy_bench {

struct JobOptions {
  std::string name;       ///< of the job and its store; one per handle
  std::string directory;  ///< of nodes, tiers and store; on a memory file system to measure memory tiers
  std::string scheme = "single";
  int ranks_per_node = 1, group_size = 8, parities = 2;
  std::string engine = "embedded", chunk = {};  ///< empty: Perdure's default
  std::uint64_t flush_bytes_per_s = 0;          ///< the most that a node writes to the store; 0: no limit
  std::string more;                             ///< further options, "key=value" separated by semicolons

  /// For perdure_open_mpi().
  std::string text() const;
};

/// Every call is collective and gives the same outcome on all ranks.
class ProtectedJob {
 public:
  static base::Result<std::unique_ptr<ProtectedJob>> open(const JobOptions& options);
  /// Without a word about what does not reach the store any more.
  ~ProtectedJob();
  ProtectedJob(const ProtectedJob&) = delete;
  ProtectedJob& operator=(const ProtectedJob&) = delete;

  base::Status protect(std::vector<char>& data);
  base::Status checkpoint(std::int64_t version);
  base::Status wait(std::int64_t version, perdure_level level);
  base::Status retire(std::int64_t version);
  /// The newest version; which one it was.
  base::Result<std::int64_t> restore();
  base::Status close();
  /// What the background has reported on this rank's node since the last call. [local]
  std::vector<std::string> reports();

 private:
  explicit ProtectedJob(perdure_t* handle) : handle_(handle) {}
  base::Status outcome(perdure_status status, const char* call) const;
  perdure_t* handle_;
};

}  // namespace perdure::redundancy_bench
