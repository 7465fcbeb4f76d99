#pragma once
// Wraps one handle of Perdure for the benchmarks: opened with a scheme, in its own directories. Several may be open at
// once, so that schemes alternate within a repetition.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "perdure/perdure_mpi.h"

namespace perdure::redundancy_bench {

struct JobOptions {
  std::string name;       ///< of the job and its store; one per handle
  std::string directory;  ///< for nodes, tiers and store; on a memory file system to measure memory tiers
  std::string scheme = "single";
  int ranks_per_node = 1, group_size = 8, parities = 2;
  std::string engine = "embedded", chunk = {};  ///< empty: Perdure's default
  std::uint64_t flush_bytes_per_s = 0;          ///< limit of a node's writes to the store; 0: no limit
  std::string more;                             ///< further options, "key=value" separated by semicolons

  /// Returns the text for perdure_open_mpi().
  std::string text() const;
};

/// Every call is collective and has the same outcome on all ranks.
class ProtectedJob {
 public:
  static base::Result<std::unique_ptr<ProtectedJob>> open(const JobOptions& options);
  /// Does not report versions that do not reach the store.
  ~ProtectedJob();
  ProtectedJob(const ProtectedJob&) = delete;
  ProtectedJob& operator=(const ProtectedJob&) = delete;

  base::Status protect(std::vector<char>& data);
  base::Status checkpoint(std::int64_t version);
  base::Status wait(std::int64_t version, perdure_level level);
  base::Status retire(std::int64_t version);
  /// Restores the newest version, and returns its number.
  base::Result<std::int64_t> restore();
  base::Status close();
  /// Returns the background reports on this rank's node since the last call. [local]
  std::vector<std::string> reports();

 private:
  explicit ProtectedJob(perdure_t* handle) : handle_(handle) {}
  base::Status outcome(perdure_status status, const char* call) const;
  perdure_t* handle_;
};

}  // namespace perdure::redundancy_bench
