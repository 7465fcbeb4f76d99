#pragma once
// Backs memory slots with pages before anybody waits for them, on a thread of its own.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "engine/reports.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

class Prefaulter {
 public:
  explicit Prefaulter(bool enabled) : enabled_(enabled) {
    if (enabled_) thread_ = std::thread([this] { run(); });
  }
  ~Prefaulter() { stop(); }
  /// `capacity` of each address is how much is wanted.
  void add(const std::vector<tier::SlotAddress>& slots);
  void stop();

 private:
  void run();
  bool enabled_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<tier::SlotAddress> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure::engine
