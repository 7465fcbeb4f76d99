#pragma once
// Estimates the flush bandwidth of a whole node: VeloC IPDPS'19, Algorithm 3 (AvgFlushBW), in the units of Algorithm 2.
// If a flush moves b bytes in t seconds while n flushes run on average, the node moves n * b / t bytes/s. While most of
// the flushes read slow tiers, this figure is the speed of those tiers, not of the store. Then it counts only as long
// as nothing else is known. Otherwise each checkpoint, which ends by emptying the slow tier, would make the next one
// expect a slow store. Knows no clock. Not thread-safe.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "metrics/moving_average.hpp"

namespace perdure::metrics {

class FlushRate {
 public:
  /// Averages over the last `window` flushes; sustained rates over kLong times as many.
  explicit FlushRate(std::size_t window = 32)
      : durations_s_(window), bytes_(window), of_store_(window), of_slow_tiers_(window) {}

  struct Started {
    double time_s = 0;
    double flush_seconds = 0;    ///< integral of the number of running flushes up to then
    double reading_seconds = 0;  ///< the part in which they read their tiers
    bool reading = true;         ///< now; see reads() and stores()
  };

  /// Begins a flush; its end passes the result to finished() or abandoned(). Times never go back.
  Started started(double now_s) {
    pass(now_s);
    running_.insert(now_s);
    ++reading_;
    return {now_s, flush_seconds_, reading_seconds_, true};
  }
  /// The flush reads its tier, as it does from its beginning on, or (stores()) writes to the store.
  void reads(double now_s, Started& start, bool reading = true) {
    pass(now_s);
    if (reading == start.reading) return;
    start.reading = reading;
    reading ? ++reading_ : --reading_;
  }
  void stores(double now_s, Started& start) { reads(now_s, start, false); }
  /// One flush's evidence on the node: how many flushes ran on average meanwhile, and how much they moved together.
  struct Observation {
    double flushes = 0;
    double storing = 0;  ///< how many of them wrote to the store
    double bytes_per_s = 0;
  };
  /// Ends the flush, which moved `bytes` to the store. Returns nothing if it took no time or moved nothing.
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
  /// Ends a failed flush, which is no evidence of the bandwidth.
  void abandoned(double now_s, const Started& start) {
    pass(now_s);
    if (const auto it = running_.find(start.time_s); it != running_.end()) running_.erase(it);
    if (start.reading) --reading_;
  }
  /// Adds prior knowledge, such as an earlier run: it counts as one observation, and as the sustained rate so far.
  void assume(double bytes_per_s) {
    if (bytes_per_s <= 0) return;
    of_store_.rates.add(bytes_per_s);
    of_store_.recent_s_per_byte.add(1 / bytes_per_s);
    of_store_.long_s_per_byte.fill(1 / bytes_per_s);
  }

  double bytes_per_s() const { return known().rates.mean(); }  ///< aggregate of the node; 0: nothing known
  /// Returns the rate to count on over a longer time; 0: nothing known. The mean of rates overestimates a store that
  /// works in bursts, by 3 % on the described one of 192 nodes. A quick burst counts as much there as a slow one that
  /// takes longer. So this averages over equal amounts of data, that is the seconds per byte. It uses the window or the
  /// long history, whichever is faster, as a slump passes.
  double sustained_bytes_per_s() const {
    const double s_per_byte = std::min(known().recent_s_per_byte.mean(), known().long_s_per_byte.mean());
    return s_per_byte > 0 ? 1 / s_per_byte : 0;
  }
  /// Return the rates, but at most the plausible part if the oldest running flush takes much longer than usual. A store
  /// that hangs gives no evidence, and must not be counted on.
  double plausible_bytes_per_s(double now_s) const { return bytes_per_s() * plausible_part(now_s); }
  double plausible_sustained_bytes_per_s(double now_s) const { return sustained_bytes_per_s() * plausible_part(now_s); }
  double deviation_bytes_per_s() const { return known().rates.deviation(); }  ///< standard deviation in the window
  std::uint64_t running() const { return running_.size(); }
  /// Predicts the seconds from `now_s` until the oldest running flush ends. Its expected duration is the mean of the
  /// window, or the time that all running flushes need at the present rate. However long it has been running, it is
  /// expected to need the standard deviation of the durations from now on. 0 if nothing is known or nothing runs.
  double next_end_s(double now_s) const {
    if (running_.empty() || durations_s_.mean() <= 0) return 0;
    const double together_s = static_cast<double>(running_.size()) * bytes_.mean() / bytes_per_s();
    const double expected_s = std::max(durations_s_.mean(), together_s);
    return std::max(*running_.begin() + expected_s - now_s, durations_s_.deviation());
  }

 private:
  static constexpr double kOverdue = 4;  // factor on the usual duration
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
  std::multiset<double> running_;  // the beginning of each
  std::size_t reading_ = 0;        // how many of them read
  double now_s_ = 0, flush_seconds_ = 0, reading_seconds_ = 0;
};

}  // namespace perdure::metrics
