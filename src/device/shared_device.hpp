#pragma once
// Models a device that serves all streams at once. With k of them in flight each gets 1/k of throughput(k) *
// variability(time), up to an external limit. The limit is the share of a file system that other nodes use, too. Knows
// no clock: its owner passes the time in seconds, which never goes back. Not thread-safe.
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
  /// Ends a stream without completion; false if it had ended.
  bool cancel(double now_s, StreamId stream);
  /// Limits all streams together to so many bytes/s from `now_s` on.
  void limit(double now_s, double bytes_per_s);

  /// Lets time pass. An earlier time than the latest is taken as the latest.
  void advance(double now_s);
  /// Returns the streams that ended since the last call, in order.
  std::vector<Completion> take_completed();
  /// Returns the next time at which a stream ends or the speed changes: the caller must advance() by then. Nothing
  /// while idle.
  std::optional<double> next_event() const;

  unsigned streams() const { return static_cast<unsigned>(active_.size()); }
  bool idle() const { return streams() == 0 && arriving_.empty(); }
  /// Returns the present aggregate, bytes/s, with the present streams (with one if there are none).
  double bytes_per_s() const { return rate_; }
  double now_s() const { return now_s_; }

 private:
  struct Arriving {
    double time_s;
    StreamId stream;
    double bytes;
  };
  struct Active {
    double end;  // the stream is done when served_ reaches it
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
  double served_ = 0;    // bytes that a stream active from the beginning would have got
  double rate_ = 0;      // aggregate with the present streams, limit and load
  double change_s_ = 0;  // time of the next change of load
  StreamId next_ = 1;
  std::deque<Arriving> arriving_;  // in order, because all have the same latency
  std::vector<Active> active_;     // a heap, the first to end at the front
  std::vector<Completion> completed_;
};

}  // namespace perdure::device
