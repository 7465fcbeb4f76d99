#include "client/write/piece_ahead.hpp"

#include <utility>

#include "os/crash_point.hpp"
#include "os/system.hpp"

namespace perdure::client {

void NextAttempt::told(const std::string& name, const segment::Attempt& attempt, std::uint64_t now_ns) {
  forget();
  name_ = name;
  told_ns_ = now_ns;
  attempt_ = attempt;
}

std::optional<NextAttempt::Known> NextAttempt::take(const std::string& name, std::uint64_t now_ns) {
  const segment::Attempt attempt = std::exchange(attempt_, {});
  if (attempt.created_ns == 0 || name_ != name) return std::nullopt;
  return Known{attempt, now_ns - told_ns_ <= kLastsNs};
}

PieceAhead::~PieceAhead() { abort(false); }

// A failure here is tried again after the opening, and is an error then.
std::optional<AheadOfOpening::Piece> PieceAhead::stage() {
  if (left_out_) return std::nullopt;
  begun_ = true;
  writer_.never_wait();
  const base::Status staged = base::caught("checkpoint", [&]() -> base::Status {
    PERDURE_CHECK(writer_.begin(id_));
    PERDURE_CHECK(writer_.put_all());
    return writer_.stage();
  });
  os::crash_point(os::CrashPoint::checkpoint_staged);
  return staged ? std::optional(Piece{id_.attempt, writer_.busy()}) : std::nullopt;
}

// Nodes may have told their group of it, which hears of its end from every node.
void PieceAhead::abort(bool any_staged) {
  const bool begun = std::exchange(begun_, false);
  base::attempt([&] {
    if (begun)
      writer_.abort();
    else if (any_staged && job_.leads() && job_.engine().connected())
      (void)job_.engine().channel().call(ipc::Abort{id_});
  });
}

base::Status PieceAhead::commit(bool wanted) {
  begun_ = false;
  return writer_.commit(wanted);
}

void SmallWrite::check(const std::string& name, plan::Branch branch) {
  if (known_)
    known_->lasts = known_->lasts && job_.known().is_newest(name, known_->attempt.created_ns) &&
                    plan::branch_of(known_->attempt.nonce) == branch;
}

bool SmallWrite::may_stage(const RegionNews& news) const {
  return regions_.bytes() <= ipc::kMostInMessage && !news.arrays && !news.declared.changed &&
         !replicates_in_call(job_) && !job_.engine().paced();
}

AheadOfOpening* SmallWrite::ahead(const Opening& opening, bool ready) {
  if (!known_) return nullptr;
  base::attempt([&] {
    const segment::VersionId id{opening.name, static_cast<std::uint64_t>(opening.version), known_->attempt};
    piece_.emplace(job_, regions_, places_, id);
    if (!ready || opening.next.refused || !known_->lasts) piece_->leave_out();
  });
  return piece_ ? &*piece_ : nullptr;
}

base::Status SmallWrite::write(const segment::VersionId& /*id*/, const Opened& opened) {
  return base::caught("checkpoint", [&] { return piece_->commit(!opened.any_busy); });
}

// A single rank that does not stage is enough to prevent its use. A rank that fails to remember the attempt falls back
// to staging after the opening. Rank 0 knows best how old the attempt's time is.
void SmallWrite::keep_next(const std::string& name, const Opened& opened) {
  if (opened.next.refused || (opened.ahead != StagedAhead::by_all && opened.ahead != StagedAhead::not_told)) return;
  base::attempt([&] { next_.told(name, opened.next.attempt, job_.rank() == 0 ? begun_ns_ : os::monotonic_ns()); });
}

}  // namespace perdure::client
