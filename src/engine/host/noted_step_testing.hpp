#pragma once
// For tests only: two steps of the pipeline record their calls (noted_step_test.cpp adds them).
#include <mutex>
#include <vector>

#include "engine/pipeline/step.hpp"

namespace perdure::engine {

/// Records the calls of the steps note-it (needs level store) and look-first (level process), and controls the steps.
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
  /// False if there are fewer after a time far beyond what the steps need.
  bool await(std::size_t count);

  std::atomic<bool> fails = false;   ///< note-it returns an error
  std::atomic<bool> blocks = false;  ///< note-it does not return until this is false, or the engine ends

 private:
  mutable std::mutex mutex_;
  std::vector<Note> notes_;
};

}  // namespace perdure::engine
