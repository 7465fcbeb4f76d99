#pragma once
// Captures protected regions while the program runs (docs/copy-on-write.md). A block is copied when a
// thread is about to write to it, or when this class reaches it. Its thread talks to the engine and never to other
// ranks.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/guarded.hpp"
#include "client/region_places.hpp"
#include "client/write/protected_copy.hpp"
#include "client/write/version_writer.hpp"

namespace perdure::client {

class CaptureInFlight {
 public:
  CaptureInFlight(Job& job, segment::VersionId id, const capture::RegionTable& regions, RegionPlaces& places);
  CaptureInFlight(const CaptureInFlight&) = delete;
  CaptureInFlight& operator=(const CaptureInFlight&) = delete;
  ~CaptureInFlight() { end(); }

  /// Does the work that must precede the program's going on. True: that was all, and the piece is staged. If
  /// `least_reach` is empty, protects nothing.
  base::Result<bool> begin(std::optional<os::WriteReach> least_reach);
  /// Lets the thread copy the protected memory, as all ranks have begun. Earlier, ranks without a processor of their
  /// own would wait in their call while others copy.
  void go_on();
  /// Gives the copying counts, after wait().
  CopyCounts counts() { return copy_ ? copy_->counts() : CopyCounts{}; }
  /// Says why none of it was protected; empty: nothing prevented it.
  const std::string& hindered() const { return hindered_; }
  /// Returns when the regions are not needed any more, and their piece is staged or cannot be. [local]
  base::Status wait();
  /// Does the same for a caller that does not need the result, and allocates nothing.
  void end();
  const segment::VersionId& id() const { return id_; }
  std::uint64_t bytes() const { return writer_.bytes(); }
  /// Tells whether the only rank there is has committed.
  bool committed();
  /// Locks the engine's connection. Every other user of the engine holds it meanwhile.
  std::unique_lock<std::mutex> engine() { return std::unique_lock(engine_); }
  /// Commits as VersionWriter does, after wait().
  base::Status commit(bool wanted) { return committed() ? base::Status() : writer_.commit(wanted); }
  bool busy() const { return writer_.busy(); }  ///< as VersionWriter does
  bool abort() { return writer_.abort(); }      ///< as VersionWriter does

 private:
  struct State {
    bool may_copy = false;
    bool all_began = false;  // no rank's call failed: the copies of all ranks are a version
    base::Status outcome;
    bool committed = false;
  };
  bool protect(os::WriteReach least_reach);
  void start();
  void let_copy(bool all_began);
  bool all_have_begun();
  void await_others();
  base::Status finish();
  base::Status copy_all();
  void ended(base::Status outcome);

  Job& job_;
  segment::VersionId id_;
  PlacedSource source_;
  VersionWriter writer_;
  std::vector<VersionWriter::SlotToFill> later_;
  std::unique_ptr<ProtectedCopy> copy_;
  std::string hindered_;
  std::mutex engine_;
  base::Guarded<State> state_;
  std::condition_variable changed_;  // signals changes of state_->may_copy
  os::Thread thread_;
};

}  // namespace perdure::client
