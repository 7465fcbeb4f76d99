#include "process/capture_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace perdure::process {

void CaptureSchedule::ask_for_end(double now_s) {
  if (!end_asked_) {
    end_asked_ = true;
    end_asked_s_ = next_try_s_ = now_s;
  } else if (now_s - end_asked_s_ >= kTogether_s) {
    end_now_ = true;
  }
}

CaptureSchedule::Step CaptureSchedule::next(double now_s) const {
  if (end_now_ || last_tries_ >= kLastTries) return {Action::end};
  if (end_asked_) return now_s >= next_try_s_ ? Step{Action::capture_and_end} : Step{Action::wait, next_try_s_};
  if (asked_ || now_s >= due_s_) return {Action::capture};
  return {Action::wait, due_s_};
}

// The program gets at least half of the time, however long captures take.
void CaptureSchedule::captured(double begun_s, double ended_s, bool good) {
  if (end_asked_ && begun_s >= end_asked_s_) {
    last_tries_ = good ? 0 : last_tries_ + 1;
    next_try_s_ = ended_s + kBetweenLastTries_s;
    return;
  }
  asked_ = false;
  failures_ = good ? 0 : failures_ + 1;
  const double pause_s = good ? every_s_ : std::min(every_s_, kFirstPause_s * std::exp2(std::min(failures_, 20) - 1));
  due_s_ = std::max(good ? begun_s + pause_s : ended_s + pause_s, ended_s + (ended_s - begun_s));
  if (every_s_ == kNever) due_s_ = kNever;
}

}  // namespace perdure::process
