#pragma once
// Writes one version's segments of this node to the store, verifying every chunk on the way out of its slot.
#include <memory>
#include <vector>

#include "engine/flush/chunk_pool.hpp"
#include "engine/flush/flush_source.hpp"
#include "store/store.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

/// What is to be flushed, copied out of the node's state, so that no lock is held meanwhile.
struct FlushJob {
  catalog::HeldVersion version;  ///< committed; or an open capture as announced
  bool open = false;             ///< a capture: what is not written yet comes as news
  /// What each tier gives to all flushes together, as far as known; decides about the order of chunks.
  std::vector<double> read_bytes_per_s = {};
  std::vector<bool> slow = {};  ///< by tier: reading it takes time; shorter: it does not
  /// So many write to the store at once; as many again may read slow tiers meanwhile.
  unsigned threads = 1;
};

struct FlushOutcome {
  std::uint64_t bytes = 0;  ///< written
  base::Status status;
  /// The version was given up while it was flushed; status is an error.
  bool gone = false;
  /// Set when a chunk failed verification.
  bool damaged = false;
  std::uint32_t rank = 0, chunk = 0;
  segment::ChunkEntry read = {};  ///< where it was read
};

/// Of a committed version; segments that are stored already are left out. Blocks; the pool's threads bring the chunks.
FlushOutcome flush(store::Store& store, tier::SlotIo& slots, const FlushJob& job, FlushSource& source, ChunkPool& pool);

/// The flush of an open capture, without a thread of its own: whoever sees that there is something to do advances it.
class WriteThrough {
 public:
  /// All but the job outlive it.
  WriteThrough(store::Store& store, tier::SlotIo& slots, FlushJob job, FlushSource& source, ChunkPool& pool);
  WriteThrough(const WriteThrough&) = delete;
  WriteThrough& operator=(const WriteThrough&) = delete;
  ~WriteThrough();
  /// Does what can be done without waiting for ranks or for another version; by one thread at a time. True: it is over.
  bool advance();
  /// It failed, or every chunk is in its place. Any thread may ask, with the ledger held, too.
  bool settled() const;
  bool failed() const;    ///< the same
  bool unplaced() const;  ///< chunks that are written are not in their place; the same
  /// Once it is over, or to end it before that. Waits for threads that are in it.
  FlushOutcome end();

 private:
  struct Parts;
  bool publish();
  std::unique_ptr<Parts> parts_;
};

}  // namespace perdure::engine
