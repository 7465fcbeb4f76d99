#pragma once
// Keeps the reports of background threads until the user takes them, at most 256; the oldest is lost first.
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
  /// Appends every report to this log file, too, with the time.
  base::Status log_to(const std::string& path);
  void add(const std::string& text);
  /// Writes to the log only: information for readers of the log that is not worth a report.
  void note(const std::string& text);
  std::optional<std::string> take();
  std::uint64_t added() const;  ///< number of reports so far

 private:
  void log(const std::string& text);

  mutable std::mutex mutex_;
  std::deque<std::string> waiting_;
  std::uint64_t lost_ = 0, added_ = 0;
  os::File log_;
  std::uint64_t log_end_ = 0;
};

}  // namespace perdure::engine
