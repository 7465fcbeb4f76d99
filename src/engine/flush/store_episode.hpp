#pragma once
// Failures of a store in a row: from the first until something is stored again. What is tried again and when, and what
// people are told of it. Knows no clock and no thread.
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/result.hpp"
#include "plan/backoff.hpp"
#include "segment/manifest.hpp"

namespace perdure::engine {

class StoreEpisode {
 public:
  explicit StoreEpisode(const plan::Backoff& backoff) : backoff_(backoff) {}

  struct Answer {
    std::optional<std::uint64_t> retry_after_ns;  ///< nothing: it is given up
    std::optional<std::string> report;            ///< nothing: people know already
  };
  /// A flush of this version failed now, after so long. Each kind of error is reported once, and once that trying was
  /// given up. A try that begins long after it was due was not waited for: the job was suspended, and that time does
  /// not count.
  Answer failed(const segment::VersionId& id, const base::Error& error, std::uint64_t now_ns, std::uint64_t took_ns);
  /// This version was stored: the episode is over. What to report, if there was one.
  std::optional<std::string> stored(const segment::VersionId& id, const std::string& location);

 private:
  std::optional<std::string> report(const segment::VersionId& id, const base::Error& error, bool retried);

  plan::Backoff backoff_;
  unsigned failures_ = 0;
  std::uint64_t since_ns_ = 0;
  std::uint64_t due_ns_ = 0;  // the last of the tries that follow; 0: none
  std::set<base::ErrorCode> told_;
  bool told_given_up_ = false;
};

}  // namespace perdure::engine
