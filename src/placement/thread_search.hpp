#pragma once
// Finds the number of threads with which a node flushes fastest: each further thread must bring bandwidth, or it is
// stopped. It uses its own measurements only, since the store is shared and its present speed unknown. Knows no clock.
#include <optional>

namespace perdure::placement {

class ThreadSearch {
 public:
  static constexpr unsigned kFirst = 2;  ///< the number of threads that it begins with by default
  static constexpr double kFirstPauseS = 10, kLongestPauseS = 1280;  ///< pauses between trials that brought nothing
  static constexpr double kWorth = 0.05;      ///< one more thread stays for this gain, or for half of its fair share
  static constexpr double kNoLoss = 0.02;     ///< one fewer stays for less loss, or for a fifth of a fair share
  static constexpr double kBelowBest = 0.05;  ///< the most below the best rate that such losses may add up to
  static constexpr double kChanged = 0.2;     ///< a rate this far below the best means that the store has changed

  explicit ThreadSearch(unsigned first = kFirst) : limit_(first), settled_(first), trial_(first) {}

  /// A chunk was flushed while `threads` ran on average, and the node moved `bytes_per_s` as a whole
  /// (metrics::FlushRate). It counts only if `threads` matches the number on trial.
  void observe(double now_s, double threads, double bytes_per_s);

  /// Returns the number of threads to run now, at most `limit`: the best so far, or its neighbour on trial.
  unsigned threads(unsigned limit) const { return trial_ < limit ? trial_ : limit; }
  unsigned settled() const { return settled_; }

  void set_limit(unsigned limit) { limit_ = limit; }

 private:
  void judge(double now_s, double rate);
  void rest(double now_s, double rate);
  void accept(double now_s, double rate);
  void reject(double now_s);
  void go(unsigned threads);

  unsigned limit_;
  unsigned settled_, trial_;  // equal: no trial
  double sum_ = 0;            // of the observations with trial_ threads
  unsigned count_ = 0;
  double settled_rate_ = 0, best_rate_ = 0;
  bool climbing_ = true;  // in larger steps, until one brought nothing
  bool upwards_ = true;   // direction of the next trial
  double next_trial_s_ = 0, pause_s_ = kFirstPauseS;
};

}  // namespace perdure::placement
