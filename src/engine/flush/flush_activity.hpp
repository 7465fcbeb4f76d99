#pragma once
// Counts a flusher's threads that are busy, so that others know when the flusher is idle.
#include <atomic>
#include <functional>
#include <utility>

namespace perdure::engine {

/// Thread-safe.
class FlushActivity {
 public:
  /// The last thread that becomes idle calls `idle`.
  explicit FlushActivity(std::function<void()> idle) : idle_(std::move(idle)) {}
  FlushActivity(const FlushActivity&) = delete;
  FlushActivity& operator=(const FlushActivity&) = delete;

  /// True when no thread is busy and the callers of the last finished work have been told.
  bool idle() const { return working_ == 0; }

  /// The activity of one thread, used by that thread alone. It begins idle. A thread that waits for ranks or the store
  /// is idle, too.
  class Part {
   public:
    explicit Part(FlushActivity& activity) : activity_(activity) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    /// A thread that ends, or that an exception takes out of its work, is idle from then on. `idle` is not called for
    /// it.
    ~Part() {
      if (busy_) --activity_.working_;
    }
    void works() {
      if (!std::exchange(busy_, true)) ++activity_.working_;
    }
    void rests() {
      if (std::exchange(busy_, false) && --activity_.working_ == 0) activity_.idle_();
    }

   private:
    FlushActivity& activity_;
    bool busy_ = false;
  };

 private:
  std::function<void()> idle_;
  std::atomic<unsigned> working_ = 0;
};

}  // namespace perdure::engine
