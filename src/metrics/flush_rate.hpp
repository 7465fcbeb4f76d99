#pragma once
// Measures the flush bandwidth of a node as a whole: VeloC IPDPS'19, Algorithm 3 (AvgFlushBW), in the units that
// Algorithm 2 needs. Suppose that a flush moved b bytes in t seconds while on average n flushes ran. Then the node
// moved n * b / t bytes/s. While most of them read slow tiers, that is the rate of those tiers, not of the store. It
// counts only as long as nothing else is known. (Otherwise the end of every checkpoint, when the slow tier is emptied,
// would make the next one expect a slow store.) Knows no clock. Not thread-safe.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "metrics/moving_average.hpp"

namespace perdure::metrics {

class FlushRate {
 public:
  /// Averages over the last `window` flushes; for the sustained rate over kLong times as many.
  explicit FlushRate(std::size_t window = 32)
      : durations_s_(window), bytes_(window), of_store_(window), of_slow_tiers_(window) {}

  struct Started {
    double time_s = 0;
    double flush_seconds = 0;    ///< integral of the number of running flushes up to then
    double reading_seconds = 0;  ///< the part of it in which they read their tiers
    bool reading = true;         ///< now; see reads() and stores()
  };

  /// A flush begins. Pass the result to finished() or abandoned(). Times never go back.
  Started started(double now_s) {
    pass(now_s);
    running_.insert(now_s);
    ++reading_;
    return {now_s, flush_seconds_, reading_seconds_, true};
  }
  /// The flush reads its tier, as it does at its beginning, or else it writes to the store.
  void reads(double now_s, Started& start, bool reading = true) {
    pass(now_s);
    if (reading == start.reading) return;
    start.reading = reading;
    reading ? ++reading_ : --reading_;
  }
  void stores(double now_s, Started& start) { reads(now_s, start, false); }
  /// The observation that one flush allows: how many flushes ran on average meanwhile, and how much they moved
  /// together.
  struct Observation {
    double flushes = 0;
    double storing = 0;  ///< how many of them wrote to the store
    double bytes_per_s = 0;
  };
  /// Ends the flush, which moved `bytes` to the store. nullopt if it took no time, or moved nothing.
  std::optional<Observation> finished(double now_s, const Started& start, double bytes) {
    abandoned(now_s, start);
    const double seconds = now_s - start.time_s;
    if (seconds <= 0 || bytes <= 0) return std::nullopt;
    const double flushes = (flush_seconds_ - start.flush_seconds) / seconds;
    const double reading = (reading_seconds_ - start.reading_seconds) / seconds;
    durations_s_.add(seconds);
    bytes_.add(bytes);
    (reading > flushes / 2 ? of_slow_tiers_ : of_store_).add(bytes * flushes / seconds);
    return Observation{flushes, flushes - reading, bytes * flushes / seconds};
  }
  /// The flush failed, so it says nothing about the bandwidth.
  void abandoned(double now_s, const Started& start) {
    pass(now_s);
    if (const auto it = running_.find(start.time_s); it != running_.end()) running_.erase(it);
    if (start.reading) --reading_;
  }
  /// Takes a rate known from elsewhere, such as an earlier run. It counts as one observation, and as the sustained rate
  /// so far.
  void assume(double bytes_per_s) {
    if (bytes_per_s <= 0) return;
    of_store_.rates.add(bytes_per_s);
    of_store_.recent_s_per_byte.add(1 / bytes_per_s);
    of_store_.long_s_per_byte.fill(1 / bytes_per_s);
  }

  double bytes_per_s() const { return known().rates.mean(); }  ///< aggregate of the node; 0: unknown
  /// Returns the rate to rely on over a longer time; 0: unknown. The mean of rates overestimates a store that works in
  /// bursts (by 3 % on the described one of 192 nodes). A quick burst counts there as much as the slow one that takes
  /// longer. So this is a mean over equal amounts of data, that is of the seconds per byte. It takes the window or the
  /// long one, whichever is faster, as a slump passes.
  double sustained_bytes_per_s() const {
    const double s_per_byte = std::min(known().recent_s_per_byte.mean(), known().long_s_per_byte.mean());
    return s_per_byte > 0 ? 1 / s_per_byte : 0;
  }
  /// Return these rates, limited to a plausible part when the oldest running flush takes much longer than usual. A
  /// store that hangs gives no information, and must not be relied on.
  double plausible_bytes_per_s(double now_s) const { return bytes_per_s() * plausible_part(now_s); }
  double plausible_sustained_bytes_per_s(double now_s) const { return sustained_bytes_per_s() * plausible_part(now_s); }
  double deviation_bytes_per_s() const { return known().rates.deviation(); }  ///< standard deviation in the window
  std::uint64_t running() const { return running_.size(); }
  /// Predicts the seconds from `now_s` until the oldest running flush ends. The flush is assumed to last as long as
  /// those in the window, or as all running ones need at the present rate. However long it has been running, it is
  /// assumed to need at least the standard deviation of the durations. Returns 0 if nothing is known or nothing runs.
  double next_end_s(double now_s) const {
    if (running_.empty() || durations_s_.mean() <= 0) return 0;
    const double together_s = static_cast<double>(running_.size()) * bytes_.mean() / bytes_per_s();
    const double expected_s = std::max(durations_s_.mean(), together_s);
    return std::max(*running_.begin() + expected_s - now_s, durations_s_.deviation());
  }

 private:
  static constexpr double kOverdue = 4;  // multiple of the usual duration
  static constexpr std::size_t kLong = 16;
  struct Rates {
    explicit Rates(std::size_t window) : rates(window), recent_s_per_byte(window), long_s_per_byte(kLong * window) {}
    void add(double rate) {
      rates.add(rate);
      recent_s_per_byte.add(1 / rate);
      long_s_per_byte.add(1 / rate);
    }
    MovingAverage rates, recent_s_per_byte, long_s_per_byte;
  };
  const Rates& known() const { return of_store_.rates.mean() > 0 ? of_store_ : of_slow_tiers_; }
  double plausible_part(double now_s) const {
    const double usual = kOverdue * durations_s_.mean();
    const double longest = running_.empty() ? 0 : now_s - *running_.begin();
    return usual > 0 && longest > usual ? usual / longest : 1;
  }
  void pass(double now_s) {
    if (now_s > now_s_) {
      flush_seconds_ += static_cast<double>(running_.size()) * (now_s - now_s_);
      reading_seconds_ += static_cast<double>(reading_) * (now_s - now_s_);
      now_s_ = now_s;
    }
  }

  MovingAverage durations_s_, bytes_;
  Rates of_store_, of_slow_tiers_;
  std::multiset<double> running_;  // when each began
  std::size_t reading_ = 0;        // of them
  double now_s_ = 0, flush_seconds_ = 0, reading_seconds_ = 0;
};

}  // namespace perdure::metrics
