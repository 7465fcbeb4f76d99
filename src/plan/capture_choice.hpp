#pragma once
// Decides from the last captures whether the next checkpoint copies on write. Pure. (docs/copy-on-write.md)
#include <cstdint>

namespace perdure::plan {

/// Statistics of this rank's last capture on write.
struct CaptureMet {
  std::uint64_t blocks = 0;     ///< protected blocks; 0: none, or unknown
  std::uint64_t waits = 0;      ///< for blocks that were not copied yet
  bool idle_processor = false;  ///< the copier has a processor that the program does not use
};

class CaptureChoice {
 public:
  /// Whether the next capture protects.
  bool next();
  void met(const CaptureMet& met);

 private:
  static constexpr unsigned kMostPause = 64;
  unsigned pause_ = 0;  // so many more captures copy in their call before the next try
  unsigned last_ = 0;   // the length of the last pause
};

}  // namespace perdure::plan
