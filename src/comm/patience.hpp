#pragma once
// Limits how long a group's functions wait for missing ranks, and words their report.
#include <cstddef>
#include <functional>
#include <string>

namespace perdure::comm {

/// Returns "rank 3", "ranks 0, 2-5 and 9", and of very many some and the count of the rest. "no rank" if there is none.
std::string ranks_text(std::size_t ranks, const std::function<bool(std::size_t)>& is_one);
/// Returns "ranks 0 and 2-5 have come; rank 1 has not".
std::string came_text(std::size_t ranks, const std::function<bool(std::size_t)>& has_come);

/// While it lives, functions of communicators that this thread calls wait for so many seconds; 0: as long as it takes.
class Patience {
 public:
  explicit Patience(double seconds);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  /// Returns this thread's patience; 0 if it has none.
  static double seconds();
  /// Reports that ranks have not come, and keeps `who`, which names them.
  static void end(const char* who);
  /// Takes the text that end() kept, once; "" if it kept none.
  static std::string take_end();

 private:
  double seconds_, before_;
};

}  // namespace perdure::comm
