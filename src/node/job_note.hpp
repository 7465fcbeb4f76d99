#pragma once
// Whose an engine's directory is. Its name says that as a hash only. (docs/format/node-directory.md)
#include <string>

#include "base/result.hpp"
#include "config/config.hpp"

namespace perdure::node {

struct JobNote {
  std::string job;    ///< the option job
  std::string store;  ///< where it is: an absolute path, or a URL
  std::string node;   ///< the node's label
  std::string text() const { return "job '" + job + "' with store " + store; }
  /// Both find each other's versions, on whatever nodes they ran.
  bool same_job(const JobNote& other) const { return job == other.job && store == other.store; }
  friend bool operator==(const JobNote&, const JobNote&) = default;
};

JobNote note_of(const config::Config& config, const std::string& node_label);

std::string encode(const JobNote& note);
/// Every field is checked for presence and type; PERDURE_CORRUPT about `object`, or PERDURE_UNSUPPORTED where a newer
/// Perdure wrote it.
base::Result<JobNote> decode_job_note(const std::string& content, const std::string& object);

/// The file in the engine's directory.
inline constexpr const char* kJobNote = "/engine.job";
/// Writes nothing where this is there already.
base::Status write_job_note(const std::string& directory, const JobNote& note);
/// PERDURE_NOT_FOUND: there is none. An older Perdure wrote none.
base::Result<JobNote> read_job_note(const std::string& directory);

}  // namespace perdure::node
