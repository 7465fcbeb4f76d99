#pragma once
// A mutex that clang knows, and the lock that takes it: members named PERDURE_GUARDED_BY one are then touched by nobody
// else.
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

/// Holds a mutex from its construction to its end, with pauses where it is asked for them.
class PERDURE_SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) PERDURE_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~Lock() PERDURE_RELEASE() {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  /// Others may take it until lock().
  void unlock() PERDURE_RELEASE() { lock_.unlock(); }
  void lock() PERDURE_ACQUIRE() { lock_.lock(); }
  /// Others may take it until `changed` is notified, or without a reason: look again at what is waited for.
  void wait(std::condition_variable& changed) { changed.wait(lock_); }
  template <class Duration>
  void wait_for(std::condition_variable& changed, Duration most) {
    changed.wait_for(lock_, most);
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace perdure::base
