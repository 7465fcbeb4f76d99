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

std::optional<segment::Attempt> NextAttempt::take(const std::string& name, std::uint64_t now_ns) {
  const segment::Attempt attempt = std::exchange(attempt_, {});
  if (attempt.created_ns == 0 || name_ != name || now_ns - told_ns_ > kLastsNs) return std::nullopt;
  return attempt;
}

PieceAhead::~PieceAhead() { abort(); }

// What fails here is tried again after the opening, and an error then.
std::optional<segment::Attempt> PieceAhead::stage() {
  begun_ = true;
  writer_.never_wait();
  const base::Status staged = base::caught("checkpoint", [&]() -> base::Status {
    PERDURE_CHECK(writer_.begin(id_));
    PERDURE_CHECK(writer_.put_all());
    return writer_.stage();
  });
  os::crash_point(os::CrashPoint::checkpoint_staged);
  return staged ? std::optional(id_.attempt) : std::nullopt;
}

void PieceAhead::abort() {
  if (!std::exchange(begun_, false)) return;
  (void)base::caught("checkpoint", [this]() -> base::Status {
    writer_.abort();
    return {};
  });
}

base::Status PieceAhead::commit() {
  begun_ = false;
  return writer_.commit();
}

}  // namespace perdure::client
