#pragma once
// Guarded<T> gives access to state only to the holder of its lock.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace perdure::base {

template <class T>
class Guarded {
 public:
  /// Holds the lock while it lives. Pointers into the state must not outlive it.
  class Access {
   public:
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;
    /// It works on a named Access only, so that readers see how long the lock is held.
    T* operator->() const& { return &owner_.state_; }
    T& operator*() const& { return owner_.state_; }
    T* operator->() const&& = delete;
    T& operator*() const&& = delete;
    /// Releases the lock until `changed` is notified. Spurious wake-ups occur: check the condition again.
    void wait(std::condition_variable& changed) { changed.wait(lock_); }
    /// Waits until `condition` is true. The lock is held while it is evaluated.
    template <class Condition>
    void wait(std::condition_variable& changed, Condition condition) {
      changed.wait(lock_, std::move(condition));
    }
    /// Waits no longer than `most`.
    template <class Duration>
    void wait_for(std::condition_variable& changed, Duration most) {
      changed.wait_for(lock_, most);
    }
    /// Waits until `condition` is true, no longer than `most`; false if it still is not.
    template <class Duration, class Condition>
    bool wait_for(std::condition_variable& changed, Duration most, Condition condition) {
      return changed.wait_for(lock_, most, std::move(condition));
    }

    /// Counts how often the lock was taken so far: this time included, waits excluded. For tests.
    std::uint64_t times_taken() const { return owner_.times_taken_; }

   private:
    friend class Guarded;
    explicit Access(Guarded& owner) : lock_(owner.mutex_), owner_(owner) { ++owner.times_taken_; }
    std::unique_lock<std::mutex> lock_;
    Guarded& owner_;
  };

  /// Constructs the state in place.
  template <class... Arguments>
  explicit Guarded(Arguments&&... arguments) : state_(std::forward<Arguments>(arguments)...) {}
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  /// Waits until no other thread holds the lock. A thread that holds it must not call again.
  [[nodiscard]] Access lock() { return Access(*this); }

 private:
  std::mutex mutex_;
  std::uint64_t times_taken_ = 0;  // a plain number beside the mutex; it costs little beside taking the mutex
  T state_;
};

}  // namespace perdure::base
