#pragma once
// Helps tests of storage faults: rules that change while processes run, and a rank's checkpoints with its reports.
#include <cstdint>
#include <string>
#include <vector>

#include "perdure/perdure.h"
#include "ranks.hpp"

namespace perdure::test_support {

/// Fault rules in a file that all processes of a test watch. A rename activates new rules, so that no process reads
/// half of them.
class Faults {
 public:
  explicit Faults(const std::string& directory) : path_(directory + "/faults") {}
  void set(const std::string& rules) const;
  /// Must be called in a rank's process before it opens (daemons inherit it).
  void install() const;

 private:
  std::string path_;
};

/// One rank's handle with a region whose content follows from the step.
class Protected {
 public:
  Protected(const Rank& rank, const std::string& options, std::size_t words = 24000);
  /// Waits until it is captured. If the call copies in the background (capture.mode=cow), the state is overwritten
  /// meanwhile.
  perdure_status checkpoint(std::int64_t step);
  /// Restores, and returns whether the content is that of `step`.
  bool restores(std::int64_t version, std::uint64_t step);
  perdure_status wait(std::int64_t step, double timeout_s = 20) {
    return perdure_wait(handle_, "app", step, PERDURE_LEVEL_STORE, timeout_s);
  }
  std::string error() const { return perdure_error_text(handle_); }
  /// Returns all reports since the last call; first waits until one contains `awaited`.
  std::vector<std::string> reports(const std::string& awaited = {});
  perdure_progress progress();
  perdure_status close() { return perdure_close(&handle_); }
  perdure_t* handle() { return handle_; }

 private:
  int rank_;
  perdure_t* handle_ = nullptr;
  std::uint64_t step_ = 0;
  std::vector<std::uint64_t> words_;
};

std::size_t count_containing(const std::vector<std::string>& texts, const std::string& part);
std::string joined(const std::vector<std::string>& texts);

/// Ends the body of a rank with a code that names the line, and prints the text: EXPECT_* of a forked rank would be
/// lost.
#define RANK_CHECK(condition, text)                                                                       \
  do {                                                                                                    \
    if (!(condition)) {                                                                                   \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, std::string(text).c_str()); \
      return 95;                                                                                          \
    }                                                                                                     \
  } while (false)

}  // namespace perdure::test_support
