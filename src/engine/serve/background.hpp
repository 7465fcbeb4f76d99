#pragma once
// Threads for requests whose answer needs other nodes or parity servers, which may be slow: the event loop never calls
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
  /// `changed`: some job is over. Called by its thread.
  explicit Background(std::function<void()> changed) : changed_(std::move(changed)) {}
  ~Background() { finish(); }
  /// Runs the job in a thread of its own. Nobody has to wait for it: the job owns what it needs. `failed` is called
  /// instead of the rest of it when it throws; neither is when the thread is refused.
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
