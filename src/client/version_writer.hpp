#pragma once
// A version that is written: this rank's part of it. (VeloC IPDPS'19, Algorithm 1: for every chunk the engine is asked
// for a slot, and the chunk is copied and hashed there.)
#include "capture/source.hpp"
#include "client/job.hpp"

namespace perdure::client {

/// begin(), put() for every chunk in order, stage(); then, when all ranks agreed, commit(), and otherwise abort(),
/// which also follows a failure of the others. No call waits for another rank but for slots that it holds.
class VersionWriter {
 public:
  VersionWriter(Job& job, capture::Source& source) : job_(job), source_(source) {}
  VersionWriter(const VersionWriter&) = delete;
  VersionWriter& operator=(const VersionWriter&) = delete;

  /// Tells the engine what this rank will write.
  base::Status begin(const segment::VersionId& id);
  std::size_t chunks() const { return ranges_.size(); }
  std::uint64_t bytes() const { return ranges_.empty() ? 0 : ranges_.back().end(); }
  /// Copies this chunk of the source to a slot.
  base::Status put(std::size_t chunk);
  /// All chunks are in their slots.
  base::Status stage();
  /// The version exists: level `process`.
  base::Status commit();
  /// Nothing of it remains.
  void abort();

 private:
  base::Status ask_for_slot(std::size_t chunk);
  base::Result<segment::ChunkEntry> put_somewhere(tier::SlotAddress slot, capture::ChunkRange range);
  base::Result<segment::ChunkEntry> copy(const tier::SlotAddress& slot, capture::ChunkRange range);
  base::Status give_back(const tier::SlotAddress& slot);
  base::Status tell_written(std::size_t index, const segment::ChunkEntry& chunk);

  Job& job_;
  capture::Source& source_;
  segment::Piece piece_;
  std::vector<capture::ChunkRange> ranges_;
  ipc::Grant grant_;                       // what is asked for; also names the version
  ipc::Posted<ipc::Granted> outstanding_;  // a request for a slot that was posted and not awaited yet
};

}  // namespace perdure::client
