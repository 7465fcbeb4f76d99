#include "placement/slowdown_budget.hpp"

#include <algorithm>
#include <utility>

namespace perdure::placement {
namespace {

/// Converts a slow-down into the lost part of every second.
double lost(double slowdown) { return slowdown / (1 + slowdown); }

}  // namespace

SlowdownBudget::Answer SlowdownBudget::threads(double now_s, const Pressure& pressure, unsigned wanted,
                                               unsigned running) {
  if (!(pressure.max_slowdown > 0) || pressure.steps == 0) {
    *this = {};  // there is no application to slow down, or it sets no limit
    return {wanted};
  }
  judge(now_s, pressure, wanted);
  if (listens(now_s, pressure)) return paused(now_s, running, listen_until_s_);
  last_ran_s_ = -1;
  if (duty_ < 1) return paced(now_s, running);
  began_s_ = -1;
  return {std::min(allowed_, wanted)};
}

void SlowdownBudget::judge(double now_s, const Pressure& pressure, unsigned wanted) {
  changed_at_ = std::min(changed_at_, pressure.flushed_steps);  // the application was started anew
  const bool believed = pressure.slowdown && pressure.flushed_steps - changed_at_ >= kNewSteps;
  const unsigned before = allowed_, ran = std::min(allowed_, wanted);
  const double duty_before = duty_;
  const double slowdown = pressure.slowdown.value_or(0), at_once = pressure.threads > 0 ? pressure.threads : ran;
  const double part = ran / at_once;  // the part of the lost time due to the allowed threads
  const double budget = lost(pressure.max_slowdown);
  if (believed && ran > 0 && lost(pressure.at_least.value_or(slowdown)) * part > budget) {
    fit(at_once * budget / lost(slowdown), ran);
    too_many_ = ran;
    if (duty_before == 1) {
      retry_s_ = now_s + retry_after_s_;
      retry_after_s_ = std::min(2 * retry_after_s_, kLongestRetryS);
    }
  } else if (believed && ran > 0 && allowed_ != kAll) {
    if (allowed_ >= too_many_) too_many_ = kAll, retry_after_s_ = kFirstRetryS;  // it is no longer too many
    const bool dare = lost(slowdown) * part <= kComfort * budget || now_s >= retry_s_;
    const bool paced = std::exchange(duty_, 1.0) < 1;
    if (!paced && dare && allowed_ < wanted && (allowed_ + 1 < too_many_ || now_s >= retry_s_)) ++allowed_;
  } else if (duty_ < 1 && now_s >= retry_s_) {
    duty_ = 1;  // long rests show nothing new: only a flush does
  }
  if (allowed_ != before || duty_ != duty_before) changed_at_ = pressure.flushed_steps;
}

// `threads` of them would cost the allowed time; that is fewer than `ran`.
void SlowdownBudget::fit(double threads, unsigned ran) {
  allowed_ = static_cast<unsigned>(std::clamp(threads, 1.0, std::max(ran - 1.0, 1.0)));
  duty_ = std::min(threads, 1.0);
}

void SlowdownBudget::idle(double now_s) {
  if (began_s_ >= 0) rests_until_s_ = now_s + std::min((now_s - began_s_) * (1 / duty_ - 1), kLongestPauseS);
  began_s_ = -1;
}

// Lets one thread run, which rests after each chunk. A running one ends first.
SlowdownBudget::Answer SlowdownBudget::paced(double now_s, unsigned running) {
  if (running > 0) return {1};
  if (now_s < rests_until_s_) return {0, rests_until_s_};
  began_s_ = now_s;
  return {1};
}

bool SlowdownBudget::listens(double now_s, const Pressure& pressure) {
  if (pressure.slowdown) {
    listen_every_ = kFirstListen;
    listen_at_ = pressure.steps + listen_every_;
    listen_until_s_ = -1;
    return false;
  }
  if (listen_until_s_ < 0) {
    listen_at_ = std::min(listen_at_, pressure.steps + listen_every_);  // the application was started anew
    if (pressure.steps < listen_at_) return false;
    listen_until_s_ = now_s + kLongestPauseS;
    listen_at_ = pressure.steps + kListenSteps;
    return true;
  }
  if (pressure.steps < listen_at_ && now_s < listen_until_s_) return true;
  listen_until_s_ = -1;
  listen_every_ = std::min(2 * listen_every_, kLongestListen);
  listen_at_ = pressure.steps + listen_every_;
  return false;
}

// Lets no thread start a chunk, except one if the last was long ago. So waiting chunks reach the store some day, even
// if the least flush slows down the application.
SlowdownBudget::Answer SlowdownBudget::paused(double now_s, unsigned running, double until_s) {
  if (running > 0 || last_ran_s_ < 0) last_ran_s_ = now_s;
  const double turn_s = last_ran_s_ + kLongestPauseS;
  if (now_s >= turn_s) return {1};
  return {0, until_s > now_s ? std::min(turn_s, until_s) : turn_s};
}

}  // namespace perdure::placement
