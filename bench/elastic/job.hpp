#pragma once
// Opens Perdure over all ranks of a benchmark.
#include <memory>
#include <string>

#include "base/result.hpp"
#include "perdure/perdure_mpi.h"

namespace perdure::elastic_bench {

/// The directories of a job's store and nodes.
struct Places {
  std::string directory;      ///< of store and nodes
  std::string node = "node";  ///< a job with another name shares the store but not the nodes' data
  std::string store;          ///< empty: in `directory`
  std::string more;           ///< further options, key=value separated by semicolons
  std::string options() const;
  std::string store_path() const { return store.empty() ? directory + "/store" : store; }
};

class Job {
 public:
  /// Opens the job. [collective]
  static base::Result<std::unique_ptr<Job>> open(const Places& places);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  perdure_t* get() const { return handle_; }
  /// Converts the status of a call to a value that says why it failed.
  base::Status outcome(perdure_status status, const char* call) const;
  /// Waits until all versions are in the store. [collective]
  base::Status close();
  /// Drops the handle without waiting, in a process that is about to be killed.
  void abandon() { handle_ = nullptr; }

 private:
  explicit Job(perdure_t* handle) : handle_(handle) {}
  perdure_t* handle_;
};

}  // namespace perdure::elastic_bench
