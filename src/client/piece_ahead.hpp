#pragma once
// Speeds up small checkpoints that follow each other shortly. Each rank stages its piece before the call's opening, for
// an attempt that the call before told to all ranks. So the opening is the only exchange of the call. (docs/adr/0042)
#include <optional>
#include <string>

#include "client/job.hpp"
#include "client/region_places.hpp"
#include "client/version_writer.hpp"

namespace perdure::client {

/// The attempt that the next checkpoint may be, as all ranks were told.
class NextAttempt {
 public:
  /// Later, the ranks agree as usual: an attempt's time says when it began.
  static constexpr std::uint64_t kLastsNs = 1'000'000'000;

  void told(const std::string& name, const segment::Attempt& attempt, std::uint64_t now_ns);
  void forget() { attempt_ = {}; }
  struct Known {
    segment::Attempt attempt;
    bool lasts = false;  ///< it is not too old
  };
  /// Takes the attempt once; nothing if it is of another name, or there is none.
  std::optional<Known> take(const std::string& name, std::uint64_t now_ns);

 private:
  std::string name_;
  segment::Attempt attempt_ = {};  // none: its time is 0
  std::uint64_t told_ns_ = 0;
};

/// This rank's piece of a version, staged before its opening, without waiting for others. It is aborted unless it is
/// committed, at the latest by the destructor.
class PieceAhead : public AheadOfOpening {
 public:
  PieceAhead(Job& job, const capture::RegionTable& regions, RegionPlaces& places, const segment::VersionId& id)
      : job_(job), id_(id), source_(regions, places), writer_(job, source_) {}
  ~PieceAhead() override;
  PieceAhead(const PieceAhead&) = delete;
  PieceAhead& operator=(const PieceAhead&) = delete;
  /// Makes stage() do nothing: this rank only knows what the others may stage.
  void leave_out() { left_out_ = true; }
  std::optional<Piece> stage() override;
  void abort(bool any_staged) override;
  /// Commits the piece. `wanted`: see ipc::Commit.
  base::Status commit(bool wanted);

 private:
  Job& job_;
  segment::VersionId id_;
  PlacedSource source_;
  VersionWriter writer_;
  bool left_out_ = false;
  bool begun_ = false;  // the engine may have something of it
};

}  // namespace perdure::client
