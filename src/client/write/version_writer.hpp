#pragma once
// Writes this rank's part of a version. (VeloC IPDPS'19, Algorithm 1: for every chunk the rank asks the engine for a
// slot, then copies and hashes the chunk there.)
#include <deque>
#include <optional>

#include "capture/source.hpp"
#include "client/job.hpp"
#include "os/thread.hpp"

namespace perdure::client {

/// The order of calls is: begin(), put() for every chunk in order or put_all(), stage(). When all ranks agreed,
/// commit() follows; otherwise, and after a failure of the others, abort(). No call waits for another rank, except for
/// slots that it holds.
class VersionWriter {
 public:
  VersionWriter(Job& job, capture::Source& source) : job_(job), source_(source) {}
  VersionWriter(const VersionWriter&) = delete;
  VersionWriter& operator=(const VersionWriter&) = delete;

  /// Makes it return PERDURE_TIMEOUT if there is no room at once, instead of waiting for checkpoint.timeout.
  void never_wait() { waits_ = false; }
  /// Tells the engine what this rank will write.
  base::Status begin(const segment::VersionId& id);
  /// Tells, after begin(), whether all of it goes to the engine in one message (put(), put_all()): then there are no
  /// slots to take.
  bool is_small() const { return small_; }
  std::size_t chunks() const { return ranges_.size(); }
  std::uint64_t bytes() const { return ranges_.empty() ? 0 : ranges_.back().end(); }
  /// Copies this chunk of the source to a slot.
  base::Status put(std::size_t chunk);
  /// Copies all of them, on as many threads as the source likes.
  base::Status put_all();
  /// A chunk whose slot is memory that is filled later.
  struct SlotToFill {
    std::size_t chunk = 0;
    tier::SlotAddress slot;
    base::ByteSpan memory;  // memory of the slot
  };
  /// Takes a slot for every chunk, instead of putting them; the caller fills those in `later`. Chunks that do not get a
  /// memory slot at once are copied now. So are all that were to be filled later with them: no rank waits while it
  /// holds slots.
  base::Status take_slots(std::vector<SlotToFill>& later);
  capture::ChunkRange range(std::size_t chunk) const { return ranges_[chunk]; }
  /// Copies these chunks now.
  base::Status put_now(const std::vector<SlotToFill>& chunks);
  /// Notes that this one's slot is filled.
  base::Status filled(const SlotToFill& chunk, const base::Hash128& hash);
  /// Ends the piece: all chunks are in their slots. `ahead`: if all ranks are on this node, their engine commits when
  /// the last of them has staged, before they agree. commit() then changes nothing.
  base::Status stage(bool ahead = false);
  /// ipc::Staged::busy, after stage().
  bool busy() const { return staged_ && staged_->busy; }
  /// Commits: the version exists at level `process`. The engine is told, and the next collective call takes its answer.
  /// `wanted`: ipc::Commit, the same on all ranks.
  base::Status commit(bool wanted = true);
  /// Removes all of it. False: the engine has committed it already, and it stays.
  bool abort();

 private:
  /// A chunk that is copied by a thread of its own.
  struct Copying {
    std::size_t chunk = 0;
    tier::SlotAddress slot;
    std::optional<base::Result<segment::ChunkEntry>> entry;  // the thread's, until it is joined
    bool settled = false;                                    // the engine knows what became of the slot
    os::Thread thread;
  };

  base::Status reserve(std::uint64_t bytes, bool has_parts);
  base::Status ask_for_slot(std::size_t chunk);
  base::Result<std::optional<ipc::SlotAddress>> put_in_message();
  base::Result<segment::ChunkEntry> put_somewhere(tier::SlotAddress slot, capture::ChunkRange range);
  base::Result<segment::ChunkEntry> put_elsewhere(std::uint32_t tier, const base::Error& why,
                                                  capture::ChunkRange range);
  base::Status note(std::size_t chunk, const segment::ChunkEntry& entry);
  base::Status begin_put(std::size_t chunk);
  base::Status settle(Copying& one);
  base::Status finish_first();
  base::Status finish_all();
  base::Result<segment::ChunkEntry> copy(const tier::SlotAddress& slot, capture::ChunkRange range);
  base::Status check_all_came(std::uint64_t bytes, capture::ChunkRange range) const;
  base::Status give_back(const tier::SlotAddress& slot);
  base::Status tell_written(std::size_t index, const segment::ChunkEntry& chunk);

  Job& job_;
  capture::Source& source_;
  segment::Piece piece_;
  std::vector<capture::ChunkRange> ranges_;
  ipc::Begin begin_;                       // the first message to the engine about it
  bool waits_ = true;                      // it may wait for room
  bool small_ = false;                     // the piece goes with one message
  std::optional<ipc::Staged> staged_;      // set once it is staged
  ipc::Grant grant_;                       // the slot request; also names the version
  ipc::Posted<ipc::Granted> outstanding_;  // a request for a slot that was posted and not awaited yet
  capture::Manner manner_;
  std::deque<Copying> copying_;  // in the order of the chunks
};

}  // namespace perdure::client
