#pragma once
// Writes one version's segments of this node to the store, verifying every chunk on the way out of its slot.
#include <vector>

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

/// Segments that are stored already are left out. Blocks; uses up to job.threads threads, twice as many with slow
/// tiers.
FlushOutcome flush(store::Store& store, tier::SlotIo& slots, const FlushJob& job, FlushSource& source);

}  // namespace perdure::engine
