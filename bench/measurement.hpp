#pragma once
// Holds one rank's protected array and its copy in warm memory, and measures with them.
#include <cstdint>
#include <string>
#include <vector>

#include "perdure/perdure_mpi.h"
#include "report.hpp"

namespace perdure::bench {

struct Arguments {
  std::size_t bytes = 256U << 20;
  int repetitions = 7;
  double pause_s = 0;  ///< before each repetition
  std::string tiers = "memory", mode = "embedded", capture = "copy", store, chunk = "64MiB";
  std::string more;  ///< further options, key=value separated by semicolons
  std::string job;   // one per run, the same on all ranks
  bool keep = false, json = false;
};

/// Ends the job with a message.
[[noreturn]] void give_up(const std::string& what);

class Bench {
 public:
  Bench(const Arguments& arguments, int rank);
  /// Runs everything from open to close. [collective]
  void run(Samples& samples, Context& context);

 private:
  void open();
  void check(perdure_status status, const char* call) const;
  void measure(int repetition, Samples& samples, Context& context);
  double write_reference(const std::string& prefix, bool sync);
  void checkpoint(int repetition, Samples& samples, Context& context);
  void note_first(double blocking, long faults, Context& context);
  void restore(int repetition, Samples& samples);
  void empty_checkpoints(Samples& samples);
  void note_memory();

  const Arguments& arguments_;
  int rank_;
  std::vector<char> source_, warm_;
  std::size_t before_bytes_ = 0, most_bytes_ = 0;
  std::int64_t first_version_ = 0;
  perdure_t* handle_ = nullptr;
};

}  // namespace perdure::bench
