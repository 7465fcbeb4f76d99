#pragma once
// One chunk to its place in a segment, verified on the way.
#include <vector>

#include "engine/flush/open_segments.hpp"
#include "engine/flush/segment_flush.hpp"

namespace perdure::engine {

struct WriteOutcome {
  base::Status status;
  bool damaged = false;  ///< the chunk is not what its rank wrote
  bool gone = false;     ///< its version was given up
};

/// While a thread flushes a chunk.
class Admission {
 public:
  /// `reading`: as FlushGate::enter(). Both must outlive it.
  Admission(const FlushJob& job, bool reading, const std::atomic<bool>& failed) : job_(job), failed_(failed) {
    if (job_.enter) pass_ = job_.enter(reading, failed);
  }
  ~Admission() {
    if (job_.leave) job_.leave(pass_);
  }
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  /// To be called with what reads() is told.
  void tell(std::function<void(bool reading)> whom) { told_ = std::move(whom); }
  /// It reads the slot of this chunk, or it writes to the store.
  void reads(const FlushedChunk& chunk, metrics::FlushRate::Started& started, bool reading) {
    if (told_) told_(reading);
    if (reading && job_.reads) job_.reads(chunk, started, pass_);
    if (!reading && job_.stores) job_.stores(chunk, started, pass_, failed_);
  }

 private:
  const FlushJob& job_;
  const std::atomic<bool>& failed_;
  std::function<void(bool)> told_;
  FlushGate::Pass pass_;
};

/// Used by all flushing threads of a job.
class ChunkWriter {
 public:
  ChunkWriter(const FlushJob& job, tier::SlotIo& slots, OpenSegments& segments);
  /// `buffer`: of this thread, kept between calls.
  WriteOutcome write(const FlushItem& item, std::vector<std::byte>& buffer, Admission& admission);

 private:
  WriteOutcome from_slot(const FlushItem& item, std::vector<std::byte>& buffer, Admission& admission);
  WriteOutcome again(const FlushItem& item, std::vector<std::byte>& buffer);
  base::Status copy(const FlushItem& item, std::vector<std::byte>& buffer, base::Hasher& hasher,
                    const std::function<void(bool reading)>& reads);
  WriteOutcome verified(const FlushItem& item, const base::Hasher& hasher, const std::string& where) const;
  base::Status check_cancelled() const;

  const FlushJob& job_;
  tier::SlotIo& slots_;
  OpenSegments& segments_;
};

}  // namespace perdure::engine
