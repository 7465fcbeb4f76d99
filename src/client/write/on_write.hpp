#pragma once
// Checkpoints here go on copying after the call (docs/copy-on-write.md, docs/adr/0043). A thread of its own ends this
// rank's part. All ranks agree on it at the beginning of their next collective call.
#include "client/write/capture_in_flight.hpp"
#include "client/write/protocol.hpp"
#include "plan/capture_choice.hpp"

namespace perdure::client {

class OnWrite : public Protocol {
 public:
  OnWrite(Job& job, const capture::RegionTable& regions, RegionPlaces& places)
      : job_(job), regions_(regions), places_(places) {}
  /// Tells whether checkpoints of the protected regions use it.
  bool applies() const;
  /// Success, too, if the version is in flight.
  base::Status write(const segment::VersionId& id, const Opened& opened) override;
  std::optional<std::uint64_t> bytes() const override { return bytes_; }
  bool in_flight() const { return flight_ != nullptr; }
  /// Tells whether that version is in flight, and not committed.
  bool in_flight(const std::string& name, std::int64_t version);
  /// [local] Returns when the regions are not needed any more.
  void end_copying();
  /// [collective] Agrees on the version in flight. Runs outside of a call: it does not open one.
  base::Status finish();
  /// Locks the engine's connection, if a thread uses it, too.
  std::unique_lock<std::mutex> engine_alone() { return flight_ ? flight_->engine() : std::unique_lock<std::mutex>(); }
  /// [local] Records that all ranks have captured this version, by any protocol.
  base::Status note_captured(const segment::VersionId& id);
  /// Gives the error of the last capture that failed after its call, if it was of this version. Other ranks may not
  /// know of it.
  base::Status failure(std::string_view name, std::int64_t version) const;

 private:
  void tell_hindered(CaptureInFlight& flight);

  Job& job_;
  const capture::RegionTable& regions_;
  RegionPlaces& places_;
  std::unique_ptr<CaptureInFlight> flight_;                           // begun by the last checkpoint, and not agreed on
  std::optional<std::pair<segment::VersionId, base::Error>> failed_;  // the last capture that failed after its call
  std::string hindered_;                                              // why the last one was copied by its call
  plan::CaptureChoice choice_;                                        // choices of capture.mode=auto
  std::optional<std::uint64_t> bytes_;
};

}  // namespace perdure::client
