#pragma once
// Writes one version's segments of this node to the store, and verifies every chunk as it leaves its slot.
#include <memory>
#include <vector>

#include "engine/flush/chunk_pool.hpp"
#include "engine/flush/flush_source.hpp"
#include "store/store.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

/// The version to flush, copied out of the node's state so that no lock is held during the flush.
struct FlushJob {
  catalog::HeldVersion version;  ///< committed; or an open capture, as announced
  bool open = false;             ///< an open capture: its missing chunks are reported by FlushSource::news()
  /// Each tier's read rate for all flushes together, as far as it is known. It decides the order of chunks.
  std::vector<double> read_bytes_per_s = {};
  std::vector<bool> slow = {};  ///< by tier: reading it takes time; tiers beyond the end are fast
  /// So many threads write to the store at once, and as many again may read slow tiers meanwhile.
  unsigned threads = 1;
};

struct FlushOutcome {
  std::uint64_t bytes = 0;  ///< bytes written
  base::Status status;
  /// The version was given up while it was flushed; status is an error.
  bool gone = false;
  /// Set when a chunk failed verification.
  bool damaged = false;
  std::uint32_t rank = 0, chunk = 0;
  segment::ChunkEntry read = {};  ///< where the damaged chunk was read
};

/// Flushes a committed version, without the segments that are stored already. Blocks while the pool's threads copy the
/// chunks.
FlushOutcome flush(store::Store& store, tier::SlotIo& slots, const FlushJob& job, FlushSource& source, ChunkPool& pool);

/// The flush of an open capture. It has no thread of its own: any thread that sees work for it advances it.
class WriteThrough {
 public:
  /// All arguments but the job outlive it.
  WriteThrough(store::Store& store, tier::SlotIo& slots, FlushJob job, FlushSource& source, ChunkPool& pool);
  WriteThrough(const WriteThrough&) = delete;
  WriteThrough& operator=(const WriteThrough&) = delete;
  ~WriteThrough();
  /// Advances as far as it can without waiting for ranks or for another version. One thread at a time may call it.
  /// True: the flush is over.
  bool advance();
  /// True if it failed, or every chunk is in its place. Any thread may ask, even with the ledger held.
  bool settled() const;
  bool failed() const;    ///< callers as for settled()
  bool unplaced() const;  ///< chunks that their ranks wrote are not yet in their place; callers as for settled()
  /// Call it when the flush is over, or to end it early. It waits for threads that work on it.
  FlushOutcome end();

 private:
  struct Parts;
  bool publish();
  std::unique_ptr<Parts> parts_;
};

}  // namespace perdure::engine
