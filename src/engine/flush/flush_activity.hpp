#pragma once
// Which threads of a flusher have something to do, so that others know when it rests.
#include <atomic>
#include <functional>
#include <utility>

namespace perdure::engine {

/// Thread-safe.
class FlushActivity {
 public:
  /// `idle` is called by the thread that is the last to rest.
  explicit FlushActivity(std::function<void()> idle) : idle_(std::move(idle)) {}
  FlushActivity(const FlushActivity&) = delete;
  FlushActivity& operator=(const FlushActivity&) = delete;

  /// True when no thread has anything to do, and everyone has heard of the end of what was done last.
  bool idle() const { return working_ == 0; }

  /// What one thread does; its own. It rests at first, and waiting for ranks or for the store is resting, too.
  class Part {
   public:
    explicit Part(FlushActivity& activity) : activity_(activity) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    /// A thread that ends, or is thrown out of its work, does nothing any more; nobody is told.
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
