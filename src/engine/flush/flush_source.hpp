#pragma once
// Through this interface a version's flush reaches the ledger, the gate, the bandwidth limit and the capture. The code
// that writes segments knows nothing else of the engine.
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
  std::optional<FlushedChunk> chunk;  ///< nullopt: no chunk was left to be flushed
  bool gone = false;                  ///< the chunk left its place because its version was given up
  /// These are set if the chunk is in a slot and not gone.
  tier::SlotAddress slot;
  device::Emulator* device = nullptr;  ///< of the slot's tier, if that is emulated
  std::optional<metrics::FlushRate::Started> started;
};

/// All threads of one version's flush call it, without a lock.
class FlushSource {
 public:
  /// Chooses the chunk to flush next; nullopt if none is left. It is called with the ledger held. It only reads, and
  /// takes no lock but the flush's own. Places are as in FlushedChunk; kInTemporarySegment for a chunk that is in no
  /// slot.
  using Choose = std::function<std::optional<FlushedChunk>(bool slots_wanted)>;

  virtual ~FlushSource() = default;

  // ---- around each chunk
  /// Blocks until one more chunk may be flushed, and chooses it; or until `failed` is set and wake() called. `reading`:
  /// it may be a chunk that takes time to be read. Call end() afterwards in every case. Takes the ledger once.
  virtual ChunkFlight begin(bool reading, const std::atomic<bool>& failed, const Choose& choose) = 0;
  /// The flight reads its slot from now on, or else it writes to the store. Before it writes it may wait, as in
  /// begin(). Does not take the ledger.
  virtual void reads(ChunkFlight& flight, bool reading, const std::atomic<bool>& failed) = 0;
  /// `stored`: the chunk is in its place. Takes the ledger once at most.
  virtual void end(const ChunkFlight& flight, bool stored) = 0;

  // ---- around each block of a chunk
  /// True if the flush must end before its next block.
  virtual bool cancelled() const = 0;
  /// Blocks as long as the bandwidth limit demands after `bytes` whose transfer began at `begun_ns`.
  virtual void pace(std::uint64_t begun_ns, std::uint64_t bytes) = 0;

  // ---- of an open capture
  /// Returns the chunks written since the last call, and the state of the capture.
  virtual CaptureNews news() = 0;
  /// Wakes threads that wait in begin() or reads(), or for something to do with the capture. They look again.
  virtual void wake() = 0;

  // ---- at the end
  enum class Turn {
    wait,  ///< others come first
    mine,  ///< the version may be published
    gone   ///< it was given up, or the engine stops
  };
  virtual Turn turn() = 0;
  /// Notes that a segment is published.
  virtual base::Status stored(std::uint32_t segment) = 0;
  /// Called when no chunk is written any more and the segments are still there. True: unpublished segments must be
  /// kept.
  virtual bool over() = 0;
};

}  // namespace perdure::engine
