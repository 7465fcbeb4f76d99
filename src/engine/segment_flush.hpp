#pragma once
// Writes one version's segments of this node to the store, verifying every chunk on the way out of its slot.
#include <atomic>
#include <functional>
#include <vector>

#include "catalog/state.hpp"
#include "metrics/flush_rate.hpp"
#include "store/store.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

/// Everything a flush needs, copied out of the core so that no lock is held during it.
struct FlushJob {
  catalog::HeldVersion version;
  std::function<tier::SlotAddress(const segment::ChunkEntry&)> address;
  /// The emulated device of a tier, nullptr for a real one; may be empty.
  std::function<device::Emulator*(std::uint32_t tier)> device;
  /// Around each chunk; may be empty. Called by all flushing threads.
  std::function<metrics::FlushRate::Started(std::uint32_t tier)> chunk_begins;
  std::function<void(std::uint32_t tier, const metrics::FlushRate::Started&, std::uint64_t bytes, bool stored)>
      chunk_ended;
  /// What each tier gives to all flushes together, as far as known; decides about the order of chunks.
  std::vector<double> read_bytes_per_s;
  unsigned threads = 1;
  std::uint64_t max_bytes_per_s = 0;
  const std::atomic<bool>* cancelled = nullptr;
  std::function<base::Status(std::uint32_t segment)> stored;  ///< called after each segment is published
};

struct FlushOutcome {
  std::uint64_t bytes = 0;  ///< written
  base::Status status;
  /// Set when a chunk in a slot failed verification.
  bool damaged = false;
  std::uint32_t rank = 0, chunk = 0;
};

/// Segments that are stored already are left out. Blocks; uses up to job.threads threads.
FlushOutcome flush(store::Store& store, tier::SlotIo& slots, const FlushJob& job);

}  // namespace perdure::engine
