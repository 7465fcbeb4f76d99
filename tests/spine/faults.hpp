#pragma once
// What the tests of storage faults share: rules that change while processes run, and a rank's checkpoints with its
// reports.
#include <cstdint>
#include <string>
#include <vector>

#include "perdure/perdure.h"
#include "ranks.hpp"

namespace perdure::test_support {

/// Fault rules in a file that all processes of a test watch. Put into force by rename, so that nobody reads half of
/// them.
class Faults {
 public:
  explicit Faults(const std::string& directory) : path_(directory + "/faults") {}
  void set(const std::string& rules) const;
  /// To be called in a rank's process before it opens (daemons inherit it).
  void install() const;

 private:
  std::string path_;
};

/// One rank's handle with a region whose content follows from the step.
class Protected {
 public:
  Protected(const Rank& rank, const std::string& options, std::size_t words = 24000);
  /// Until it is captured. Where the call leaves that to be done (capture.mode=cow), the state is written anew
  /// meanwhile.
  perdure_status checkpoint(std::int64_t step);
  /// Restores and says whether the content is that of `step`.
  bool restores(std::int64_t version, std::uint64_t step);
  perdure_status wait(std::int64_t step, double timeout_s = 20) {
    return perdure_wait(handle_, "app", step, PERDURE_LEVEL_STORE, timeout_s);
  }
  std::string error() const { return perdure_error_text(handle_); }
  /// All reports since the last call, waiting first until one contains `awaited`.
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

/// Ends the body of a rank with a code that names the line, and the text: EXPECT_* of a forked rank would be lost.
#define RANK_CHECK(condition, text)                                                                       \
  do {                                                                                                    \
    if (!(condition)) {                                                                                   \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, std::string(text).c_str()); \
      return 95;                                                                                          \
    }                                                                                                     \
  } while (false)

}  // namespace perdure::test_support
