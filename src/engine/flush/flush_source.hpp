#pragma once
// What the flush of a version asks, and tells, of all that is around it: the ledger, the gate, the bandwidth limit, the
// capture. How segments are written knows nothing else of the engine.
#include <atomic>
#include <functional>
#include <optional>

#include "device/emulator.hpp"
#include "engine/flush/flush_gate.hpp"
#include "engine/ledger/node_state.hpp"

namespace perdure::engine {

/// A chunk between begin() and end().
struct ChunkFlight {
  FlushGate::Pass pass = {};
  std::optional<FlushedChunk> chunk;  ///< nothing: there was none to be flushed any more
  bool gone = false;                  ///< it is not where it was: its version was given up
  /// Of a chunk that is in a slot, and not gone:
  tier::SlotAddress slot;
  device::Emulator* device = nullptr;  ///< of the slot's tier, if that is emulated
  std::optional<metrics::FlushRate::Started> started;
};

/// Called by all threads of one version's flush, without a lock.
class FlushSource {
 public:
  /// Says which chunk is flushed next, nothing when none is left. Called with the ledger held: it only looks, and takes
  /// no lock but the flush's own. Places as in FlushedChunk; kInTemporarySegment for a chunk that is in no slot.
  using Choose = std::function<std::optional<FlushedChunk>(bool slots_wanted)>;

  virtual ~FlushSource() = default;

  // ---- around each chunk
  /// Blocks until one more may be flushed, or `failed` is set and wake() called; then one is chosen. `reading`: it may
  /// be one that takes time to be read. end() belongs to it in every case. Takes the ledger once.
  virtual ChunkFlight begin(bool reading, const std::atomic<bool>& failed, const Choose& choose) = 0;
  /// It reads its slot from now on, or it writes to the store: then it may have to wait, as in begin(). Takes no
  /// ledger.
  virtual void reads(ChunkFlight& flight, bool reading, const std::atomic<bool>& failed) = 0;
  /// `stored`: the chunk is in its place. Takes the ledger once at most.
  virtual void end(const ChunkFlight& flight, bool stored) = 0;

  // ---- around each block of a chunk
  /// The flush is to end before its next block.
  virtual bool cancelled() const = 0;
  /// Blocks after so many bytes that were begun then for as long as the bandwidth limit wants.
  virtual void pace(std::uint64_t begun_ns, std::uint64_t bytes) = 0;

  // ---- of an open capture
  /// What is written since the last call, and how far the capture is now.
  virtual CaptureNews news() = 0;
  /// Whoever waits in begin() or reads(), or for something to do with the capture, looks again.
  virtual void wake() = 0;

  // ---- at the end
  enum class Turn {
    wait,  ///< others come first
    mine,  ///< it may be published
    gone   ///< it was given up, or the engine stops
  };
  virtual Turn turn() = 0;
  /// A segment is published.
  virtual base::Status stored(std::uint32_t segment) = 0;
  /// No chunk is written any more, and the segments are still there. True: what was not published must be kept.
  virtual bool over() = 0;
};

}  // namespace perdure::engine
