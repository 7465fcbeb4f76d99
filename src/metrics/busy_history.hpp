#pragma once
// When something was busy lately: for which fraction of a time that is over. Bounded; knows no clock. Not thread-safe.
#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>

namespace perdure::metrics {

class BusyHistory {
 public:
  static constexpr std::size_t kKept = 1024;

  /// Knows nothing of what was before `from_s`. Pauses shorter than `same_s` between two busy times are counted as
  /// busy: they are no rest for anybody.
  explicit BusyHistory(double from_s = 0, double same_s = 1e-3) : same_s_(same_s), known_from_s_(from_s) {}

  /// Times never go back; what says otherwise is taken for the latest time that was seen.
  void begins(double now_s) {
    pass(now_s);
    if (running_++ > 0) return;
    if (!past_.empty() && now_s_ - past_.back().end_s <= same_s_) {
      since_s_ = past_.back().begin_s;
      past_.pop_back();
    } else {
      since_s_ = now_s_;
    }
  }
  void ends(double now_s) {
    pass(now_s);
    if (running_ == 0 || --running_ > 0) return;
    past_.push_back({since_s_, now_s_});
    if (past_.size() <= kKept) return;
    known_from_s_ = past_.front().end_s;
    past_.pop_front();
  }
  /// Nothing for a time that begins before what is still known, or that has no length.
  std::optional<double> fraction(double from_s, double to_s) const {
    if (!(to_s > from_s) || from_s < known_from_s_) return std::nullopt;
    double busy_s = running_ > 0 ? std::max(to_s - std::max(since_s_, from_s), 0.0) : 0;
    for (const Busy& busy : past_) busy_s += std::max(std::min(busy.end_s, to_s) - std::max(busy.begin_s, from_s), 0.0);
    return std::clamp(busy_s / (to_s - from_s), 0.0, 1.0);
  }

 private:
  struct Busy {
    double begin_s = 0, end_s = 0;
  };
  void pass(double now_s) { now_s_ = std::max(now_s_, now_s); }

  double same_s_;
  std::deque<Busy> past_;
  std::size_t running_ = 0;
  double since_s_ = 0, now_s_ = 0, known_from_s_;
};

}  // namespace perdure::metrics
