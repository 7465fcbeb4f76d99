#pragma once
// Speeds up small checkpoints that follow each other shortly. Each rank stages its piece before the call's opening, for
// an attempt that the call before told to all ranks. So the opening is the only exchange of the call. (docs/adr/0042)
#include <optional>
#include <string>

#include "client/region_places.hpp"
#include "client/write/protocol.hpp"
#include "client/write/version_writer.hpp"

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

/// Every checkpoint has one, as ranks have to know the same attempts. It writes if all ranks have staged their pieces.
class SmallWrite : public Protocol {
 public:
  /// Takes the attempt at a version of `name` that `next` knows, at the time `begun_ns`.
  SmallWrite(Job& job, const capture::RegionTable& regions, RegionPlaces& places, NextAttempt& next,
             const std::string& name, std::uint64_t begun_ns)
      : job_(job),
        regions_(regions),
        places_(places),
        next_(next),
        begun_ns_(begun_ns),
        known_(next.take(name, begun_ns)) {}
  /// [local] At rank 0, before it draws an attempt on `branch`: the known one may be out of date.
  void check(const std::string& name, plan::Branch branch);
  /// [local] Tells whether this rank may stage a piece before the next opening. Only small captures may, and only if
  /// the engine's answer does not depend on other ranks.
  bool may_stage(const RegionNews& news) const;
  /// [local] Gives the piece to stage before this opening. Empty: no attempt is known.
  AheadOfOpening* ahead(const Opening& opening, bool ready);
  base::Status write(const segment::VersionId& id, const Opened& opened) override;
  std::optional<std::uint64_t> bytes() const override { return regions_.bytes(); }
  /// [local] Keeps the attempt that rank 0 told in the opening.
  void keep_next(const std::string& name, const Opened& opened);

 private:
  Job& job_;
  const capture::RegionTable& regions_;
  RegionPlaces& places_;
  NextAttempt& next_;
  std::uint64_t begun_ns_;
  std::optional<NextAttempt::Known> known_;
  std::optional<PieceAhead> piece_;
};

}  // namespace perdure::client
