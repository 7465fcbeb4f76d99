#pragma once
// Copies one chunk to its place in a segment, and verifies it on the way.
#include <vector>

#include "engine/flush/flush_source.hpp"
#include "engine/flush/open_segments.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

struct WriteOutcome {
  base::Status status;
  bool damaged = false;  ///< the chunk differs from what its rank wrote
  bool gone = false;     ///< its version was given up
};

/// All threads that flush a version share one.
class ChunkWriter {
 public:
  /// Called whenever the flush begins to read the chunk's slot, or to write the chunk to the store.
  using Reads = std::function<void(bool reading)>;

  /// All arguments outlive it. `failed` belongs to the version's flush.
  ChunkWriter(const segment::VersionId& id, FlushSource& source, tier::SlotIo& slots, OpenSegments& segments,
              const std::atomic<bool>& failed);
  /// Each thread keeps its own `buffer` between calls.
  WriteOutcome write(const FlushItem& item, std::vector<std::byte>& buffer, ChunkFlight& flight, const Reads& reads);

 private:
  WriteOutcome from_slot(const FlushItem& item, std::vector<std::byte>& buffer, ChunkFlight& flight,
                         const Reads& reads);
  WriteOutcome again(const FlushItem& item, std::vector<std::byte>& buffer);
  base::Status copy(const FlushItem& item, std::vector<std::byte>& buffer, base::Hasher& hasher, ChunkFlight& flight,
                    const Reads& reads);
  WriteOutcome verified(const FlushItem& item, const base::Hasher& hasher, const std::string& where) const;
  base::Status check_cancelled() const;

  const segment::VersionId& id_;
  FlushSource& source_;
  tier::SlotIo& slots_;
  OpenSegments& segments_;
  const std::atomic<bool>& failed_;
};

}  // namespace perdure::engine
