#pragma once
// For tests only: steps of the pipeline that note what they were told (noted_step_test.cpp adds them).
#include <mutex>
#include <vector>

#include "engine/pipeline/step.hpp"

namespace perdure::engine {

/// What the steps note-it (needs level store) and look-first (level process) did, and what they are to do.
class Notes {
 public:
  struct Note {
    std::string step;
    StepVersion version;
  };
  static Notes& all();
  void forget();
  void add(const std::string& step, const StepVersion& version);
  std::vector<std::uint64_t> versions_of(const std::string& step) const;
  std::vector<Note> notes() const;
  /// False when there are not so many after a time far beyond what they need.
  bool await(std::size_t count);

  std::atomic<bool> fails = false;   ///< note-it answers with an error
  std::atomic<bool> blocks = false;  ///< note-it does not return until this is over, or the engine ends

 private:
  mutable std::mutex mutex_;
  std::vector<Note> notes_;
};

}  // namespace perdure::engine
