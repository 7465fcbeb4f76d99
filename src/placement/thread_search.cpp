#include "placement/thread_search.hpp"

#include <algorithm>
#include <cmath>

namespace perdure::placement {
namespace {

constexpr unsigned kLeast = 4;    // observations, and one more for each thread
constexpr double kForget = 0.05;  // of the best: a lucky moment must not be the measure for ever
constexpr double kFits = 0.25;    // of a thread: chunks during a change of the number belong to neither

/// Returns the fair share of `step` more threads.
double share(unsigned step, unsigned threads) { return static_cast<double>(step) / static_cast<double>(threads); }

}  // namespace

void ThreadSearch::observe(double now_s, double threads, double bytes_per_s) {
  if (trial_ > limit_) go(settled_ = std::min(settled_, limit_));  // the limit was lowered
  if (!std::isfinite(bytes_per_s) || bytes_per_s <= 0 || !(std::abs(threads - trial_) < kFits)) return;
  sum_ += bytes_per_s;
  if (++count_ < kLeast + trial_) return;
  const double rate = sum_ / count_;
  sum_ = 0;
  count_ = 0;
  if (trial_ == settled_) return rest(now_s, rate);
  judge(now_s, rate);
}

void ThreadSearch::go(unsigned threads) {
  trial_ = std::max(threads, 1U);
  sum_ = 0;
  count_ = 0;
}

void ThreadSearch::rest(double now_s, double rate) {
  settled_rate_ = rate;
  best_rate_ = std::max(best_rate_ + kForget * (rate - best_rate_), rate);
  if (rate < (1 - kChanged) * best_rate_) {
    best_rate_ = rate;
    pause_s_ = kFirstPauseS;
    next_trial_s_ = std::min(next_trial_s_, now_s + pause_s_);
  }
  if (now_s < next_trial_s_) return;
  if (settled_ <= 1) upwards_ = true;
  if (settled_ >= limit_) upwards_ = false;
  const unsigned step = climbing_ ? std::max(settled_ / 4, 1U) : 1;
  if (upwards_ && settled_ < limit_) return go(std::min(settled_ + step, limit_));
  climbing_ = false;
  if (!upwards_ && settled_ > 1) go(settled_ - 1);
}

void ThreadSearch::judge(double now_s, double rate) {
  const bool up = trial_ > settled_;
  const double part = share(up ? trial_ - settled_ : 1, settled_);
  if (up) return rate >= settled_rate_ * (1 + std::min(kWorth, part / 2)) ? accept(now_s, rate) : reject(now_s);
  const bool as_good = rate >= settled_rate_ * (1 - std::min(kNoLoss, part / 5));
  return as_good && rate >= best_rate_ * (1 - kBelowBest) ? accept(now_s, rate) : reject(now_s);
}

// Tries the same direction again at once.
void ThreadSearch::accept(double now_s, double rate) {
  settled_ = trial_;
  pause_s_ = kFirstPauseS;
  next_trial_s_ = now_s;
  rest(now_s, rate);
}

// Tries the other direction, later; repeated failures make trials ever rarer.
void ThreadSearch::reject(double now_s) {
  climbing_ = false;
  upwards_ = trial_ < settled_;
  next_trial_s_ = now_s + pause_s_;
  pause_s_ = std::min(2 * pause_s_, kLongestPauseS);
  go(settled_);
}

}  // namespace perdure::placement
