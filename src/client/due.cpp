#include "client/due.hpp"

#include "os/system.hpp"
#include "perdure/perdure.h"
#include "store/halt_record.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kBetweenLooks_ns = 1'000'000'000;

}  // namespace

bool halts(const HaltTimes& times) {
  return times.asked_ns != 0 && times.begun_ns <= times.asked_ns && times.asked_ns <= times.now_ns;
}

unsigned due_reasons(const Heard& heard) {
  unsigned reasons = 0;
  if (heard.signals > heard.served || heard.end_by_signal) reasons |= PERDURE_DUE_SIGNAL;
  if (heard.halt) reasons |= PERDURE_DUE_HALT;
  if (heard.halt || heard.end_by_signal) reasons |= PERDURE_DUE_END;
  return reasons;
}

Due::Due(const config::Config& config) : begun_ns_(os::wall_clock_ns()) {
  if (config.text("signals") == "checkpoint") signals_.emplace();
  served_ = asked();
}

void Due::uses(std::string_view name) {
  if (!names_.contains(name)) names_.emplace(name);
}

// A record that cannot be read now asks for nothing; a later look may read it.
bool Due::halt_asked(store::Store& store) {
  for (const auto& name : names_) {
    const auto at = store::halt_at(store, name);
    if (at && halts({*at, begun_ns_, os::wall_clock_ns()})) return true;
  }
  return false;
}

unsigned Due::here(store::Store* store) {
  const std::uint64_t now_ns = os::monotonic_ns();
  if (store != nullptr && (looked_at_ns_ == 0 || now_ns - looked_at_ns_ >= kBetweenLooks_ns)) {
    looked_at_ns_ = now_ns;
    halt_ = halt_asked(*store);
  }
  return due_reasons({asked(), served_, signals_ && signals_->end_asked(), halt_});
}

}  // namespace perdure::client
