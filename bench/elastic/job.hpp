#pragma once
// An open Perdure over all ranks of a benchmark.
#include <memory>
#include <string>

#include "base/result.hpp"
#include "perdure/perdure_mpi.h"

namespace perdure::elastic_bench {

/// Where a job has its store and what its nodes keep.
struct Places {
  std::string directory;      ///< of both
  std::string node = "node";  ///< another one sees the store, and nothing that the nodes of other jobs kept
  std::string store;          ///< empty: in `directory`
  std::string more;           ///< further options, key=value separated by semicolons
  std::string options() const;
  std::string store_path() const { return store.empty() ? directory + "/store" : store; }
};

class Job {
 public:
  /// [collective]
  static base::Result<std::unique_ptr<Job>> open(const Places& places);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  perdure_t* get() const { return handle_; }
  /// What a call gave, as a value that says why.
  base::Status outcome(perdure_status status, const char* call) const;
  /// Waits until all is at the store. [collective]
  base::Status close();
  /// For a process that is about to be killed: nobody waits for anything.
  void abandon() { handle_ = nullptr; }

 private:
  explicit Job(perdure_t* handle) : handle_(handle) {}
  perdure_t* handle_;
};

}  // namespace perdure::elastic_bench
