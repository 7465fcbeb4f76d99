#include "client/piece_ahead.hpp"

#include <utility>

#include "os/crash_point.hpp"

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
  (void)base::caught("checkpoint", [&]() -> base::Status {
    if (begun)
      writer_.abort();
    else if (any_staged && job_.leads() && job_.engine().connected())
      (void)job_.engine().channel().call(ipc::Abort{id_});
    return {};
  });
}

base::Status PieceAhead::commit(bool wanted) {
  begun_ = false;
  return writer_.commit(wanted);
}

}  // namespace perdure::client
