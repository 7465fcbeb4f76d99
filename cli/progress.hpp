#pragma once
// Shows how far a long operation is: a bar that redraws itself on a terminal, a line now and then elsewhere.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "cli/verb.hpp"
#include "os/thread.hpp"

namespace perdure::cli {

/// Writes one line: "verifying  42% [====      ]  1.2 GiB of 2.9 GiB, 512.0 MiB/s, 3 s left" (pure).
std::string progress_line(const std::string& what, std::uint64_t done, std::uint64_t total, double elapsed_s);

/// Shows itself from construction to destruction; add() may be called by any thread.
class Progress {
 public:
  Progress(Terminal& terminal, std::string what, std::uint64_t total_bytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void add(std::uint64_t bytes) { done_.fetch_add(bytes, std::memory_order_relaxed); }
  std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  double elapsed_s() const;

 private:
  void show();
  Terminal& terminal_;
  const std::string what_;
  const std::uint64_t total_;
  const std::uint64_t start_ns_;
  std::atomic<std::uint64_t> done_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  os::Thread thread_;
};

}  // namespace perdure::cli
