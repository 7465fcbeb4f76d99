#pragma once
// Starts threads; no other file does (tools/check_threads). A refused thread is an error. An exception of a body ends
// only the body's work, never the application that hosts us.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"

namespace perdure::os {

class Thread {
 public:
  /// Reports, on the thread, that the work under way failed with the body's exception. Returning true calls the body
  /// again after a short pause, as that of a loop. If this throws, it is called again until it does not, so its effects
  /// may come twice. Once the thread is to end, it must not throw for ever.
  using Failed = std::function<bool(const base::Error& why)>;

  Thread() = default;
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }
  /// Starts a thread; PERDURE_NO_SPACE names the possible limits if the system refuses it. `name` says its purpose.
  /// Hooks are asked about "thread" before it starts, and about "thread_body" before each call of the body, where a
  /// refusal simulates refused memory.
  static base::Result<Thread> start(const std::string& name, std::function<void()> body, Failed failed);
  bool joinable() const { return thread_.joinable(); }
  void join();

 private:
  explicit Thread(std::thread thread) : thread_(std::move(thread)) {}
  std::thread thread_;
};

/// Owns several threads. It reserves room for a thread before it starts it. Without room, a running thread would be
/// joined at once, and nobody would have told it to end.
class Threads {
 public:
  /// Takes the arguments of Thread::start. Returns refused memory as an error and throws nothing, so that the caller
  /// can end the threads already started.
  base::Status start(std::string_view name, std::function<void()> body, Thread::Failed failed);
  bool empty() const { return threads_.empty(); }
  std::size_t size() const { return threads_.size(); }
  /// Waits for all threads, and forgets them.
  void join() { threads_.clear(); }

 private:
  std::vector<Thread> threads_;
};

/// Runs `work` on its own thread and waits for it. Returns its exception, or a refused thread, as an error.
base::Status run_aside(const std::string& name, const std::function<void()>& work);

}  // namespace perdure::os
