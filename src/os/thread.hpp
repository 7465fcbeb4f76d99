#pragma once
// The one place where threads are begun (tools/check_threads). A thread that the system refuses is an error, and what
// a thread's body throws ends nothing but what that body was doing: the application that hosts us never ends by it.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"

namespace perdure::os {

class Thread {
 public:
  /// Called on the thread with what the body threw: says that what was under way failed. True: the body is to be called
  /// again, after a short pause, as that of a loop. When this throws it is called again, until it does not: what it
  /// did before may come twice, and once the thread is to end it must not throw for ever.
  using Failed = std::function<bool(const base::Error& why)>;

  Thread() = default;
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }
  /// PERDURE_NO_SPACE, with the limits that it may be, when the system refuses the thread. `name` says what it is for;
  /// hooks are asked about "thread" before it is begun, and about "thread_body" (a refusal is memory that the body
  /// could not get) before each call of the body.
  static base::Result<Thread> start(const std::string& name, std::function<void()> body, Failed failed);
  bool joinable() const { return thread_.joinable(); }
  void join();

 private:
  explicit Thread(std::thread thread) : thread_(std::move(thread)) {}
  std::thread thread_;
};

/// Several threads. It makes room for a thread before it begins it. Else a thread that runs and finds no room would be
/// joined at once, and nobody would have told it to end.
class Threads {
 public:
  /// Takes what Thread::start takes. Returns refused memory as an error and throws nothing, so that the caller goes on
  /// to end the threads that it has begun.
  base::Status start(std::string_view name, std::function<void()> body, Thread::Failed failed);
  bool empty() const { return threads_.empty(); }
  std::size_t size() const { return threads_.size(); }
  /// Waits for all of them, and has none then.
  void join() { threads_.clear(); }

 private:
  std::vector<Thread> threads_;
};

/// `work` on a thread of its own, which is waited for. What it throws is the error, as is a thread that is refused.
base::Status run_aside(const std::string& name, const std::function<void()>& work);

}  // namespace perdure::os
