#pragma once
// A capture of protected regions that goes on while the program does (docs/copy-on-write.md): memory is copied when
// somebody is about to write to it, or when this comes to it. Its thread talks to the engine and never to other ranks.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/guarded.hpp"
#include "client/protected_copy.hpp"
#include "client/region_places.hpp"
#include "client/version_writer.hpp"

namespace perdure::client {

class CaptureInFlight {
 public:
  CaptureInFlight(Job& job, segment::VersionId id, const capture::RegionTable& regions, RegionPlaces& places);
  CaptureInFlight(const CaptureInFlight&) = delete;
  CaptureInFlight& operator=(const CaptureInFlight&) = delete;
  ~CaptureInFlight() { end(); }

  /// What has to be done before the program goes on. True: that was all, and the piece is staged. `least_reach`
  /// nothing: protects nothing.
  base::Result<bool> begin(std::optional<os::WriteReach> least_reach);
  /// All ranks have begun: the thread copies from now on what is protected. Before, ranks that have no processor of
  /// their own would wait in their call for what others copy.
  void go_on();
  /// After wait(): what copying met.
  CopyCounts counts() { return copy_ ? copy_->counts() : CopyCounts{}; }
  /// Why none of it was protected; empty: nothing hindered it.
  const std::string& hindered() const { return hindered_; }
  /// Returns when the regions are not needed any more, and their piece is staged or cannot be. [local]
  base::Status wait();
  /// The same, for who does not ask what became of it: needs no memory.
  void end();
  const segment::VersionId& id() const { return id_; }
  std::uint64_t bytes() const { return writer_.bytes(); }
  /// By the only rank there is.
  bool committed();
  /// Who talks to the engine meanwhile holds this.
  std::unique_lock<std::mutex> engine() { return std::unique_lock(engine_); }
  /// After wait(): as VersionWriter does.
  base::Status commit(bool wanted) { return committed() ? base::Status() : writer_.commit(wanted); }
  bool busy() const { return writer_.busy(); }  ///< the same
  bool abort() { return writer_.abort(); }      ///< the same

 private:
  struct State {
    bool may_copy = false;
    bool all_began = false;  // no rank's call failed: what all have copied is a version
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
  std::condition_variable changed_;  // state_->may_copy
  os::Thread thread_;
};

}  // namespace perdure::client
