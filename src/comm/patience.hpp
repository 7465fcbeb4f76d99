#pragma once
// How long a group's functions wait for ranks that do not come, and what they say of them then.
#include <cstddef>
#include <functional>
#include <string>

namespace perdure::comm {

/// "rank 3", "ranks 0, 2-5 and 9", and where these are many how many more there are. "no rank" of none.
std::string ranks_text(std::size_t ranks, const std::function<bool(std::size_t)>& is_one);
/// "ranks 0 and 2-5 have come; rank 1 has not".
std::string came_text(std::size_t ranks, const std::function<bool(std::size_t)>& has_come);

/// While it lives, functions of communicators that this thread calls wait for so many seconds; 0: as long as it takes.
class Patience {
 public:
  explicit Patience(double seconds);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  /// This thread's patience; 0 where it has none.
  static double seconds();
  /// They have not come: what `who` says of them is kept.
  static void end(const char* who);
  /// Takes what end() kept, once; "" where it kept nothing.
  static std::string take_end();

 private:
  double seconds_, before_;
};

}  // namespace perdure::comm
