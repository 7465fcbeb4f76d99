#pragma once
// One chunk to its place in a segment, verified on the way.
#include <vector>

#include "engine/open_segments.hpp"
#include "engine/segment_flush.hpp"

namespace perdure::engine {

struct WriteOutcome {
  base::Status status;
  bool damaged = false;  ///< the chunk is not what its rank wrote
  bool gone = false;     ///< its version was given up
};

/// Used by all flushing threads of a job.
class ChunkWriter {
 public:
  ChunkWriter(const FlushJob& job, tier::SlotIo& slots, OpenSegments& segments);
  /// `buffer`: of this thread, kept between calls.
  WriteOutcome write(const FlushItem& item, std::vector<std::byte>& buffer);

 private:
  WriteOutcome from_slot(const FlushItem& item, std::vector<std::byte>& buffer);
  WriteOutcome again(const FlushItem& item, std::vector<std::byte>& buffer);
  base::Status copy(const FlushItem& item, std::vector<std::byte>& buffer, base::Hasher& hasher,
                    metrics::FlushRate::Started& started);
  void reads(metrics::FlushRate::Started& started, bool reading);
  WriteOutcome verified(const FlushItem& item, const base::Hasher& hasher, const std::string& where) const;
  base::Status check_cancelled() const;

  const FlushJob& job_;
  tier::SlotIo& slots_;
  OpenSegments& segments_;
};

}  // namespace perdure::engine
