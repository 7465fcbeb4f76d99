#pragma once
// Counts an engine's events since it began. The engine's lock guards it.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "metrics/histogram.hpp"
#include "metrics/moving_average.hpp"
#include "plan/lineage.hpp"
#include "plan/pipeline.hpp"
#include "segment/manifest.hpp"

namespace perdure::engine {

using plan::Level;

struct Counters {
  // ---- captures
  std::uint64_t begun = 0, committed = 0, aborted = 0, captured_bytes = 0;
  metrics::Histogram capture_s{metrics::duration_bounds_s()};
  metrics::Histogram slot_wait_s{metrics::duration_bounds_s()};
  std::uint64_t under_way = 0;  ///< neither committed nor given up
  void capture_begins() {
    ++begun;
    ++under_way;
  }
  void capture_commits(std::uint64_t bytes, double seconds) {
    --under_way;
    ++committed;
    captured_bytes += bytes;
    capture_s.observe(seconds);
  }
  /// The capture ended, and no part of it is left.
  void capture_over() {
    --under_way;
    ++aborted;
  }

  // ---- levels
  /// Start of the newest version that reached the store, in ns; 0: none did. It outlives the version's slots.
  std::uint64_t newest_stored_ns = 0;
  /// The newest stored attempt of each name and branch.
  std::map<std::pair<std::string, plan::Branch>, segment::VersionId> newest_stored;
  void reached_store(const segment::VersionId& id) {
    newest_stored_ns = std::max(newest_stored_ns, id.attempt.created_ns);
    segment::VersionId& newest = newest_stored[{id.name, plan::branch_of(id.attempt.nonce)}];
    if (newest.attempt < id.attempt) newest = id;
  }

  // ---- flushes
  std::uint64_t stored_bytes = 0;         ///< of whole versions
  std::uint64_t flushed_chunk_bytes = 0;  ///< every time they are written
  double last_flush_s = 0;
  metrics::MovingAverage flush_bytes_per_s;
  metrics::Histogram flush_s{metrics::duration_bounds_s()};
  std::uint64_t flushes_retried = 0, flushes_given_up = 0;
  void flush_succeeded(std::uint64_t bytes, double seconds) {
    stored_bytes += bytes;
    last_flush_s = seconds;
    flush_s.observe(seconds);
    if (bytes > 0 && seconds > 0) flush_bytes_per_s.add(static_cast<double>(bytes) / seconds);
  }

  // ---- everything else
  std::uint64_t evicted_stored = 0, evicted_unstored = 0;
  std::uint64_t skipped = 0;  ///< given up because retention would have removed them from the store
  std::uint64_t replications_reached = 0, replications_failed = 0;
  std::uint64_t replications_stored = 0;      ///< did not reach level node, but this node's part is in the store
  std::uint64_t replications_superseded = 0;  ///< a newer version reached level node first
  std::uint64_t encoded_bytes = 0;
  std::uint64_t recoveries = 0, recoveries_failed = 0, fetched_bytes = 0, rebuilt_bytes = 0;
  std::uint64_t restored_from_slots_bytes = 0, restored_from_store_bytes = 0;
  std::uint64_t quarantined_chunks = 0, quarantined_blocks = 0;
};

}  // namespace perdure::engine
