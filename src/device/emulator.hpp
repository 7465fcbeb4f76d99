#pragma once
// Emulates a device in real time: a transfer ends when the description says so, however long the real device needs.
// Thread-safe. SharedDevice decides; this adds the clock and the waiting threads.
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "device/shared_device.hpp"

namespace perdure::device {

/// An emulator's source of time.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now_s() = 0;  ///< never goes back
  /// Waits for `changed`, at most for the given time. `lock` is held before and after.
  virtual void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, double seconds) = 0;
};
Clock& real_clock();

class Emulator {
 public:
  /// A described second takes `time_scale` seconds of the clock, which must outlive the emulator.
  Emulator(const Device& description, double time_scale, std::uint64_t seed, Clock& clock = real_clock());

  /// Limits all transfers together, in described bytes/s, from now on: the share of a store that others use, too.
  void limit(double bytes_per_s);
  StreamId start(std::uint64_t bytes);
  /// Cancels a running transfer; does nothing for one that is over.
  void cancel(StreamId stream);
  bool over(StreamId stream);
  /// Returns when the transfer is over, or at once after shut().
  void wait(StreamId stream);
  void transfer(std::uint64_t bytes) { wait(start(bytes)); }
  /// Returns after how many seconds of the clock to ask again; 0: the transfer is over.
  double ask_again_in_s(StreamId stream);
  unsigned streams();
  /// Ends all waiting, now and later: an engine that stops does not wait for a slow device.
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
  // One waiting thread watches the clock and wakes the others. If all did, each event would wake every thread.
  std::multimap<StreamId, std::condition_variable> waiting_;
  std::condition_variable* watch_ = nullptr;  // that of the watching thread
  bool shut_ = false;
};

}  // namespace perdure::device
