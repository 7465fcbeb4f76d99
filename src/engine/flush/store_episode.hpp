#pragma once
// Tracks consecutive failures of a store, from the first until something is stored again. Decides which attempts are
// retried and when, and what is reported. Knows no clock and no thread.
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
    std::optional<std::uint64_t> retry_after_ns;  ///< nullopt: give up
    std::optional<std::string> report;            ///< nullopt: it was reported before
  };
  /// A flush of this version failed at `now_ns`, after `took_ns`. Each kind of error is reported once, and so is the
  /// end of retrying. An attempt that begins long after it was due means that the job was suspended; that time does not
  /// count.
  Answer failed(const segment::VersionId& id, const base::Error& error, std::uint64_t now_ns, std::uint64_t took_ns);
  /// This version was stored, which ends the episode. Returns the report, if there was an episode.
  std::optional<std::string> stored(const segment::VersionId& id, const std::string& location);

 private:
  std::optional<std::string> report(const segment::VersionId& id, const base::Error& error, bool retried);

  plan::Backoff backoff_;
  unsigned failures_ = 0;
  std::uint64_t since_ns_ = 0;
  std::uint64_t due_ns_ = 0;  // when the last of the following attempts is due; 0: none
  std::set<base::ErrorCode> told_;
  bool told_given_up_ = false;
};

}  // namespace perdure::engine
