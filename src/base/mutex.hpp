#pragma once
// Wraps a mutex and its lock for clang's thread-safety analysis. Members marked PERDURE_GUARDED_BY can be touched by
// the mutex's holder only.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/thread_annotations.hpp"

namespace perdure::base {

class Lock;

class PERDURE_CAPABILITY("mutex") Mutex {
 public:
  void lock() PERDURE_ACQUIRE() { mutex_.lock(); }
  void unlock() PERDURE_RELEASE() { mutex_.unlock(); }

 private:
  friend class Lock;
  std::mutex mutex_;
};

/// Holds a mutex from its construction to its end, except between unlock() and lock(), and in waits.
class PERDURE_SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) PERDURE_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~Lock() PERDURE_RELEASE() {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  /// Releases the mutex until lock().
  void unlock() PERDURE_RELEASE() { lock_.unlock(); }
  void lock() PERDURE_ACQUIRE() { lock_.lock(); }
  /// Releases the mutex until `changed` is notified. Spurious wake-ups occur: check the condition again.
  void wait(std::condition_variable& changed) { changed.wait(lock_); }
  template <class Duration>
  void wait_for(std::condition_variable& changed, Duration most) {
    changed.wait_for(lock_, most);
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace perdure::base
