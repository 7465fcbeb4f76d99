#pragma once
// A device emulated in real time: a transfer begins, and is over when the description says so, whatever the real one
// behind it needs. Thread-safe. What it decides is SharedDevice; here are only the clock and those who wait.
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "device/shared_device.hpp"

namespace perdure::device {

/// Through which an emulator sees time.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now_s() = 0;  ///< never goes back
  /// Waits for `changed`, at most so long. `lock` is held before and after.
  virtual void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, double seconds) = 0;
};
Clock& real_clock();

class Emulator {
 public:
  /// A second of the description takes `time_scale` seconds of the clock, which must live as long.
  Emulator(const Device& description, double time_scale, std::uint64_t seed, Clock& clock = real_clock());

  /// From now on all transfers together get at most this, described bytes/s: the share of a store that others use too.
  void limit(double bytes_per_s);
  StreamId start(std::uint64_t bytes);
  /// What is not over yet never was.
  void cancel(StreamId stream);
  bool over(StreamId stream);
  /// Returns when it is over, or at once after shut().
  void wait(StreamId stream);
  void transfer(std::uint64_t bytes) { wait(start(bytes)); }
  /// In so many seconds of the clock look again whether it is over: 0 when it is.
  double look_again_in_s(StreamId stream);
  unsigned streams();
  /// Nobody waits any more: for the end of an engine, which must not take as long as a slow device would.
  void shut();

 private:
  double described_now_s() { return (clock_.now_s() - epoch_s_) / time_scale_; }
  void advance();
  void tell(StreamId stream);
  void changed();
  double to_next_event_s() const;

  Clock& clock_;
  const double time_scale_, epoch_s_;
  std::mutex mutex_;
  SharedDevice device_;
  std::set<StreamId> running_;
  // One of those that wait watches the clock and tells the others. If all did, each event would wake every thread.
  std::multimap<StreamId, std::condition_variable> waiting_;
  std::condition_variable* watch_ = nullptr;  // of the one
  bool shut_ = false;
};

}  // namespace perdure::device
