#pragma once
// What the background has to tell the user: each report is kept until somebody took it, at most 256 (the oldest go
// first).
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "os/file.hpp"

namespace perdure::engine {

/// Thread-safe.
class Reports {
 public:
  /// Every report is also appended to this log file, with the time.
  base::Status log_to(const std::string& path);
  void add(const std::string& text);
  /// Into the log only: worth knowing for who looks, nothing to be told about.
  void note(const std::string& text);
  std::optional<std::string> take();
  std::uint64_t added() const;  ///< so far

 private:
  void log(const std::string& text);

  mutable std::mutex mutex_;
  std::deque<std::string> waiting_;
  std::uint64_t lost_ = 0, added_ = 0;
  os::File log_;
  std::uint64_t log_end_ = 0;
};

}  // namespace perdure::engine
