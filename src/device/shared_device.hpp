#pragma once
// A device that serves all streams at once: with k of them in flight each gets 1/k of throughput(k) *
// variability(time), up to a limit from outside (the share of a file system that other nodes use too). Knows no clock:
// its owner passes the time in seconds, which never goes back. Not thread-safe.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "device/description.hpp"

namespace perdure::device {

using StreamId = std::uint64_t;

struct Completion {
  StreamId stream = 0;
  double time_s = 0;
};

class SharedDevice {
 public:
  /// `seed` (of the run) is mixed with that of the description.
  SharedDevice(const Device& description, std::uint64_t seed);

  /// Moves `bytes` (more than 0) from `now_s` on, after the latency. Implies advance(now_s).
  StreamId start(double now_s, double bytes);
  /// Ends a stream without completion; false when it had ended.
  bool cancel(double now_s, StreamId stream);
  /// From `now_s` on all streams together get at most this, bytes/s.
  void limit(double now_s, double bytes_per_s);

  /// Lets time pass. A time before the latest one is taken as that one.
  void advance(double now_s);
  /// What ended since the last call, in order.
  std::vector<Completion> take_completed();
  /// The next time at which a stream ends or the speed changes: advance() then at the latest. Nothing while idle.
  std::optional<double> next_event() const;

  unsigned streams() const { return static_cast<unsigned>(active_.size()); }
  bool idle() const { return streams() == 0 && arriving_.empty(); }
  /// Aggregate now, bytes/s, with the streams there are (with one when there are none).
  double bytes_per_s() const { return rate_; }
  double now_s() const { return now_s_; }

 private:
  struct Arriving {
    double time_s;
    StreamId stream;
    double bytes;
  };
  struct Active {
    double end;  // value of served_ at which it is done
    StreamId stream;
    bool operator>(const Active& other) const { return end != other.end ? end > other.end : stream > other.stream; }
  };
  double stream_rate() const { return rate_ / std::max(streams(), 1U); }
  void refresh_rate();
  void begin(const Arriving& arriving);
  void end_first();
  double first_end_s() const;
  double step_end_s() const;

  std::vector<double> throughput_;  // [streams - 1], bytes/s
  double latency_s_;
  Variability variability_;
  double limit_ = Node::kUnlimited;
  double now_s_ = 0;
  double served_ = 0;    // bytes that a stream active from the beginning on would have got
  double rate_ = 0;      // aggregate with the present streams, limit and load
  double change_s_ = 0;  // when the load changes
  StreamId next_ = 1;
  std::deque<Arriving> arriving_;  // in order, as the latency is the same for all
  std::vector<Active> active_;     // a heap, the first to end at the front
  std::vector<Completion> completed_;
};

}  // namespace perdure::device
