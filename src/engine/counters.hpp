#pragma once
// What an engine counted since it began. Guarded by the engine's lock.
#include <algorithm>
#include <cstdint>
#include <map>

#include "metrics/histogram.hpp"
#include "metrics/moving_average.hpp"
#include "segment/manifest.hpp"

namespace perdure::engine {

enum class Level { process, node, store };

struct Counters {
  // ---- captures
  std::uint64_t begun = 0, committed = 0, aborted = 0, captured_bytes = 0;
  metrics::Histogram capture_s{metrics::duration_bounds_s()};
  metrics::Histogram slot_wait_s{metrics::duration_bounds_s()};
  /// Repeatable.
  void capture_begins(const segment::VersionId& id, double now_s) {
    begun += begun_s_.emplace(id, now_s).second ? 1 : 0;
  }
  void capture_commits(const segment::VersionId& id, std::uint64_t bytes, double now_s) {
    const auto capture = begun_s_.extract(id);
    if (capture.empty()) return;  // settled after a death, or recovered: it was not captured here now
    ++committed;
    captured_bytes += bytes;
    capture_s.observe(now_s - capture.mapped());
  }
  /// Nothing is left of it. What was committed is none any more.
  void capture_over(const segment::VersionId& id) { aborted += begun_s_.erase(id); }
  std::size_t under_way() const { return begun_s_.size(); }

  // ---- levels
  /// When the newest version that reached the store was begun; 0: none did. It is there when its slots are long gone.
  std::uint64_t newest_stored_ns = 0;
  void reached_store(std::uint64_t attempt_ns) { newest_stored_ns = std::max(newest_stored_ns, attempt_ns); }

  // ---- flushes
  std::uint64_t stored_bytes = 0;         ///< of whole versions
  std::uint64_t flushed_chunk_bytes = 0;  ///< as they are written, again when they are written again
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
  std::uint64_t protections_reached = 0, protections_failed = 0;
  std::uint64_t protections_stored = 0;      ///< not protected, but the store has what this node would lose
  std::uint64_t protections_superseded = 0;  ///< not protected yet when a newer one was
  std::uint64_t encoded_bytes = 0;
  std::uint64_t recoveries = 0, recoveries_failed = 0, fetched_bytes = 0, rebuilt_bytes = 0;
  std::uint64_t restored_from_slots_bytes = 0, restored_from_store_bytes = 0;
  std::uint64_t quarantined_chunks = 0, quarantined_blocks = 0;

 private:
  std::map<segment::VersionId, double> begun_s_;  // captures that are neither committed nor given up
};

}  // namespace perdure::engine
