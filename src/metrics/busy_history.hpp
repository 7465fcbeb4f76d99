#pragma once
// Records when something was busy lately. It answers for a past time: which fraction of it was busy, and with how much
// at once. Bounded; knows no clock. Not thread-safe.
#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>

namespace perdure::metrics {

class BusyHistory {
 public:
  static constexpr std::size_t kKept = 1024;

  /// The history begins at `from_s`. Pauses shorter than `same_s` between two busy times count as busy, because they
  /// give no rest.
  explicit BusyHistory(double from_s = 0, double same_s = 1e-3) : same_s_(same_s), known_from_s_(from_s) {}

  /// Times never go back: an earlier time is taken for the latest one seen.
  void begins(double now_s) {
    pass(now_s);
    if (running_++ > 0) return;
    if (!past_.empty() && now_s_ - past_.back().end_s <= same_s_) {
      begin_s_ = past_.back().begin_s;
      total_ = past_.back().total;
      past_.pop_back();
    } else {
      begin_s_ = now_s_;
      total_ = 0;
    }
  }
  void ends(double now_s) {
    pass(now_s);
    if (running_ == 0 || --running_ > 0) return;
    past_.push_back({begin_s_, now_s_, total_});
    if (past_.size() <= kKept) return;
    known_from_s_ = past_.front().end_s;
    past_.pop_front();
  }
  struct Load {
    double fraction = 0;  ///< the busy fraction of the time
    double at_once = 0;   ///< on average while busy
  };
  /// Returns nothing for a time that begins before the known history, or that has no length.
  std::optional<Load> load(double from_s, double to_s) const {
    if (!(to_s > from_s) || from_s < known_from_s_) return std::nullopt;
    Load load;
    double total = 0;
    const auto count = [&](const Busy& busy) {
      const double seconds = std::min(busy.end_s, to_s) - std::max(busy.begin_s, from_s);
      if (seconds <= 0) return;
      load.fraction += seconds / (to_s - from_s);
      total += busy.total / (busy.end_s - busy.begin_s) * seconds / (to_s - from_s);
    };
    for (const Busy& busy : past_) count(busy);
    if (running_ > 0) count({begin_s_, to_s, total_ + static_cast<double>(running_) * std::max(to_s - now_s_, 0.0)});
    load.fraction = std::min(load.fraction, 1.0);
    if (load.fraction > 0) load.at_once = total / load.fraction;
    return load;
  }

 private:
  struct Busy {
    double begin_s = 0, end_s = 0;
    double total = 0;  // seconds of all busy times together
  };
  void pass(double now_s) {
    if (!(now_s > now_s_)) return;
    total_ += static_cast<double>(running_) * (now_s - now_s_);
    now_s_ = now_s;
  }

  double same_s_;
  std::deque<Busy> past_;
  std::size_t running_ = 0;
  double begin_s_ = 0, total_ = 0;  // of the present busy time
  double now_s_ = 0, known_from_s_;
};

}  // namespace perdure::metrics
