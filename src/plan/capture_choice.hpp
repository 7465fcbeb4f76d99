#pragma once
// Whether the next checkpoint copies on write, from what the last ones met. Pure. (docs/copy-on-write.md)
#include <cstdint>

namespace perdure::plan {

/// What the last capture on write of this rank met.
struct CaptureMet {
  std::uint64_t blocks = 0;     ///< that were protected; 0: none was, or nothing is known
  std::uint64_t waits = 0;      ///< for one that was not copied yet
  bool idle_processor = false;  ///< the copier has one that the program does not use
};

class CaptureChoice {
 public:
  /// Whether the next one protects.
  bool next();
  void met(const CaptureMet& met);

 private:
  static constexpr unsigned kMostPause = 64;
  unsigned pause_ = 0;  // so many more copy in their call, until it is tried again
  unsigned last_ = 0;   // how long the last pause was
};

}  // namespace perdure::plan
