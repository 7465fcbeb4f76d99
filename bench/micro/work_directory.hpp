#pragma once
// Makes a benchmark's own directory, and removes it at the end, also when the run is interrupted.
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.hpp"

namespace perdure::micro {

/// From here on SIGINT, SIGTERM and SIGHUP end the process only after removing the paths given to clean(). Must be made
/// before MPI starts its threads, which must not receive these signals.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  void clean(const std::string& directory);
  /// True from the signal until the process ends; errors in this time do not matter.
  static bool under_way();

 private:
  void watch();
  std::mutex mutex_;
  std::string directory_;
  bool ending_ = false;
  std::thread watcher_;
};

/// A directory with the same path on all ranks and every host, within an existing one ($TMPDIR or /tmp by default).
class WorkDirectory {
 public:
  /// Makes the directory. [collective]
  static base::Result<std::unique_ptr<WorkDirectory>> make(const std::string& parent, const std::string& benchmark,
                                                           Interruption& interruption);
  /// Removes it. [collective]
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit WorkDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace perdure::micro
