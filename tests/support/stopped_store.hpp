#pragma once
// Stops writes to a store until the test releases them.
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "os/hooks.hpp"

namespace perdure::test_support {

/// Writes to files below `path` whose path contains `part` wait until the test releases them.
class StoppedStore : public os::Hooks {
 public:
  explicit StoppedStore(std::string path, std::string part = {}) : path_(std::move(path)), part_(std::move(part)) {}
  int before(const os::Operation& operation) override {
    if (operation.call != std::string_view("pwrite") || !operation.path.starts_with(path_)) return 0;
    if (operation.path.find(part_) == std::string_view::npos) return 0;
    std::unique_lock guard(mutex_);
    waits_ = true;
    changed_.wait(guard, [this] { return goes_on_; });
    return 0;
  }
  bool waits() {
    const std::lock_guard guard(mutex_);
    return waits_;
  }
  void go_on() {
    {
      const std::lock_guard guard(mutex_);
      goes_on_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::string path_, part_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waits_ = false, goes_on_ = false;
};

}  // namespace perdure::test_support
