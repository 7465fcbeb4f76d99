#pragma once
// State that is reached only by who holds its lock.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace perdure::base {

template <class T>
class Guarded {
 public:
  /// The state, while this lives. Pointers into it are worth nothing afterwards.
  class Access {
   public:
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;
    /// Only of a named one, so that everybody sees how long the lock is held.
    T* operator->() const& { return &owner_.state_; }
    T& operator*() const& { return owner_.state_; }
    T* operator->() const&& = delete;
    T& operator*() const&& = delete;
    /// Others may take the lock until `changed` is notified, or without a reason: look again at what is waited for.
    void wait(std::condition_variable& changed) { changed.wait(lock_); }
    /// Until `condition`, which is asked with the lock held, comes true.
    template <class Condition>
    void wait(std::condition_variable& changed, Condition condition) {
      changed.wait(lock_, std::move(condition));
    }
    /// No longer than `most`.
    template <class Duration>
    void wait_for(std::condition_variable& changed, Duration most) {
      changed.wait_for(lock_, most);
    }
    /// The same, until `condition` comes true; false when it did not.
    template <class Duration, class Condition>
    bool wait_for(std::condition_variable& changed, Duration most, Condition condition) {
      return changed.wait_for(lock_, most, std::move(condition));
    }

    /// How often the lock was taken so far, this time included, and not counting waits. For tests.
    std::uint64_t times_taken() const { return owner_.times_taken_; }

   private:
    friend class Guarded;
    explicit Access(Guarded& owner) : lock_(owner.mutex_), owner_(owner) { ++owner.times_taken_; }
    std::unique_lock<std::mutex> lock_;
    Guarded& owner_;
  };

  /// The state is made in place.
  template <class... Arguments>
  explicit Guarded(Arguments&&... arguments) : state_(std::forward<Arguments>(arguments)...) {}
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  /// Waits until nobody else holds it. Who holds it already must not ask again.
  [[nodiscard]] Access lock() { return Access(*this); }

 private:
  std::mutex mutex_;
  std::uint64_t times_taken_ = 0;  // a plain number beside the mutex: nothing beside what taking the mutex costs
  T state_;
};

}  // namespace perdure::base
