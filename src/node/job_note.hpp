#pragma once
// Records which job an engine's directory belongs to, since its name has only a hash of that
// (docs/format/node-directory.md).
#include <string>

#include "base/result.hpp"
#include "config/config.hpp"

namespace perdure::node {

struct JobNote {
  std::string job;    ///< the option job
  std::string store;  ///< its location: an absolute path, or a URL
  std::string node;   ///< the node's label
  std::string text() const { return "job '" + job + "' with store " + store; }
  /// True if both find each other's versions, on whatever nodes they ran.
  bool same_job(const JobNote& other) const { return job == other.job && store == other.store; }
  friend bool operator==(const JobNote&, const JobNote&) = default;
};

JobNote note_of(const config::Config& config, const std::string& node_label);

std::string encode(const JobNote& note);
/// Checks every field for presence and type. Fails with PERDURE_CORRUPT about `object`, or with PERDURE_UNSUPPORTED if
/// a newer Perdure wrote it.
base::Result<JobNote> decode_job_note(const std::string& content, const std::string& object);

/// The file in the engine's directory.
inline constexpr const char* kJobNote = "/engine.job";
/// Writes nothing if the same note exists.
base::Status write_job_note(const std::string& directory, const JobNote& note);
/// Fails with PERDURE_NOT_FOUND if there is none. An older Perdure wrote none.
base::Result<JobNote> read_job_note(const std::string& directory);

}  // namespace perdure::node
