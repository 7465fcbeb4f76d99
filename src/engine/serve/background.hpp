#pragma once
// Runs requests that need other nodes or parity servers on threads. These may be slow, and the event loop never calls
// the network.
#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <utility>

#include "os/thread.hpp"

namespace perdure::engine {

class Background {
 public:
  /// The thread of a job calls `changed` when the job is over.
  explicit Background(std::function<void()> changed) : changed_(std::move(changed)) {}
  ~Background() { finish(); }
  /// Runs the job on its own thread. Nobody has to wait for it, since the job owns what it needs. If it throws,
  /// `failed` is called with the error. If no thread can be had, start() fails and calls neither.
  base::Status start(std::function<void()> job, std::function<void(const base::Error&)> failed);
  /// Waits until all jobs are over.
  void finish();

 private:
  struct Job {
    os::Thread thread;
    std::atomic<bool> over = false;
  };
  std::function<void()> changed_;
  std::list<Job> jobs_;
};

}  // namespace perdure::engine
