#include "engine/flush/flush_gate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "engine/ledger/now.hpp"
#include "placement/flush_order.hpp"

namespace perdure::engine {

// What the application is to feel is a number of threads, whatever they do.
bool FlushGate::may_enter(bool reading, unsigned threads, const View& view) const {
  const unsigned most =
      view.pressure.max_slowdown > 0 ? threads : placement::most_under_way(threads, view.slots_wanted);
  return (reading ? reading_ : storing_) < threads && inside() < most;
}

void FlushGate::await(Line& line, Ledger::Access& ledger, const std::atomic<bool>& given_up,
                      const std::function<bool(unsigned threads, const View& view)>& may) {
  ++line.waiting;
  while (!shut_ && !given_up) {
    const View view = look_(*ledger);
    const auto answer = pool_.decide({now_s(), inside(), limit_, inside() + outside(), somebody_waits_, view.pressure});
    if (may(answer.threads, view)) break;
    const double wait_s = answer.again_s - now_s();
    if (std::isfinite(wait_s))
      ledger.wait_for(line.changed, std::chrono::duration<double>(std::max(wait_s, 0.0)));
    else
      ledger.wait(line.changed);
  }
  --line.waiting;
}

// Also called by who got in: there may be room for more than one.
void FlushGate::room() {
  for (Line* line : {&has_read_, &to_store_, &to_read_}) line->changed.notify_one();
}

FlushGate::Pass FlushGate::enter(bool reading, const std::atomic<bool>& given_up) {
  auto ledger = ledger_.lock();
  await(reading ? to_read_ : to_store_, ledger, given_up,
        [&](unsigned threads, const View& view) { return may_enter(reading, threads, view); });
  ++(reading ? reading_ : storing_);
  room();
  return {reading};
}

void FlushGate::leave(const Pass& pass) {
  const auto ledger = ledger_.lock();
  --(pass.reading ? reading_ : storing_);
  room();
}

void FlushGate::reads(Pass& pass) {
  const auto ledger = ledger_.lock();
  if (std::exchange(pass.reading, true)) return;
  --storing_;
  ++reading_;
  room();
}

// Who is inside goes on, however few are allowed by now: its chunk is under way.
void FlushGate::stores(Pass& pass, const std::atomic<bool>& given_up) {
  auto ledger = ledger_.lock();
  if (!pass.reading) return;
  await(has_read_, ledger, given_up, [&](unsigned threads, const View&) { return storing_ < std::max(threads, 1U); });
  pass.reading = false;
  --reading_;
  ++storing_;
  room();
}

FlushGate::Status FlushGate::status(const Ledger::Access&) const {
  const unsigned held_back = inside() < limit_ ? std::min(outside(), limit_ - inside()) : 0;
  return {inside(), outside() + has_read_.waiting, held_back};
}

void FlushGate::look_again(Ledger::Access&) {
  for (Line* line : {&has_read_, &to_store_, &to_read_}) line->changed.notify_all();
}

void FlushGate::shut(Ledger::Access& ledger) {
  shut_ = true;
  look_again(ledger);
}

void FlushGate::somebody_waits(Ledger::Access& ledger, bool waits) {
  if (std::exchange(somebody_waits_, waits) != waits && waits) look_again(ledger);
}

void FlushGate::observe(Ledger::Access& ledger, const metrics::FlushRate::Observation& observation) {
  // The pool's number bounds those that read and those that store, each for itself: the larger of both is what it let
  // go. With a budget it bounds both together.
  const double reading = observation.flushes - observation.storing;
  const bool together = look_(*ledger).pressure.max_slowdown > 0;
  pool_.observe(now_s(), together ? observation.flushes : std::max(reading, observation.storing),
                observation.bytes_per_s);
}

}  // namespace perdure::engine
