#pragma once
// Where a benchmark writes: a directory of its own that is removed at the end, and when the run is interrupted.
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.hpp"

namespace perdure::micro {

/// From here on SIGINT, SIGTERM and SIGHUP end the process only after what clean() named is removed. To be made before
/// MPI starts its threads, which must not take these signals.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  void clean(const std::string& directory);
  /// From the signal on, until the process ends; what fails meanwhile is of no interest.
  static bool under_way();

 private:
  void watch();
  std::mutex mutex_;
  std::string directory_;
  bool ending_ = false;
  std::thread watcher_;
};

/// The same path on all ranks; made on every host, within a directory that exists ($TMPDIR or /tmp by default).
class WorkDirectory {
 public:
  /// [collective]
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
