#pragma once
// Writes one version's segments of this node to the store, verifying every chunk on the way out of its slot.
#include <atomic>
#include <functional>
#include <vector>

#include "engine/flush/flush_gate.hpp"
#include "engine/ledger/node_state.hpp"
#include "store/store.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

/// Everything a flush needs, copied out of the node's state so that no lock is held during it. The functions are called
/// by all flushing threads.
struct FlushJob {
  catalog::HeldVersion version;  ///< committed; or an open capture as announced, with `news`
  std::function<tier::SlotAddress(const segment::ChunkEntry&)> address;
  /// The emulated device of a tier, nullptr for a real one; may be empty.
  std::function<device::Emulator*(std::uint32_t tier)> device;
  /// Reading this tier takes time; may be empty: no.
  std::function<bool(std::uint32_t tier)> slow;
  /// Around each chunk that is read from a slot; may be empty. Nothing when it is not there any more.
  std::function<std::optional<metrics::FlushRate::Started>(const FlushedChunk&)> chunk_begins;
  std::function<void(const FlushedChunk&, const metrics::FlushRate::Started&, bool stored)> chunk_ended;
  /// What each tier gives to all flushes together, as far as known; decides about the order of chunks.
  std::vector<double> read_bytes_per_s;
  std::function<bool()> slots_wanted;  ///< producers will want slots; may be empty: no
  /// So many write to the store at once; as many again may read slow tiers meanwhile.
  unsigned threads = 1;
  /// Around each chunk, blocking until one more may be flushed, or `failed` is set and wake() called; may be empty.
  std::function<FlushGate::Pass(bool reading, const std::atomic<bool>& failed)> enter;
  std::function<void(const FlushGate::Pass&)> leave;
  /// Meanwhile: it reads its slot now, or it writes to the store, for which it may have to wait likewise; may be empty.
  std::function<void(const FlushedChunk&, metrics::FlushRate::Started&, FlushGate::Pass&)> reads;
  std::function<void(const FlushedChunk&, metrics::FlushRate::Started&, FlushGate::Pass&,
                     const std::atomic<bool>& failed)>
      stores;
  /// Blocks after so many bytes that were begun then for as long as the bandwidth limit wants; may be empty.
  std::function<void(std::uint64_t begun_ns, std::uint64_t bytes)> pace;
  const std::atomic<bool>* cancelled = nullptr;
  /// Of an open capture: blocks until more is written, the state changed, or `failed` is set and wake() called.
  /// Empty: everything is there.
  std::function<CaptureNews(const std::atomic<bool>& failed)> news;
  std::function<void()> wake;  ///< may be empty where news and enter are
  /// Blocks until it is this version's turn to be published, or it was given up: an error. May be empty.
  std::function<base::Status()> turn;
  /// Called when no chunk is written any more, while the segments are still there; true: what was not published must be
  /// kept. May be empty: no.
  std::function<bool()> over;
  std::function<base::Status(std::uint32_t segment)> stored;  ///< called after each segment is published
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

/// Segments that are stored already are left out. Blocks; uses up to job.threads threads.
FlushOutcome flush(store::Store& store, tier::SlotIo& slots, const FlushJob& job);

}  // namespace perdure::engine
