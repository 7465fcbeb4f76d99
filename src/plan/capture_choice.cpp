#include "plan/capture_choice.hpp"

#include <algorithm>

namespace perdure::plan {
namespace {

// Measured (docs/results/speed.md): protecting a block of 16 KiB takes some 0.7 us less than its copy in the call. A
// wait takes 25 to 35 us. If the copier takes the program's own processor, all its work is lost, too.
bool pays(const CaptureMet& met) { return met.waits * (met.idle_processor ? 48 : 96) < met.blocks; }

}  // namespace

bool CaptureChoice::next() {
  if (pause_ == 0) return true;
  --pause_;
  return false;
}

// Programs change: it tries again, the later the more often it did not pay.
void CaptureChoice::met(const CaptureMet& met) {
  if (met.blocks == 0) return;
  last_ = pays(met) ? 0 : std::clamp(2 * last_, 4U, kMostPause);
  pause_ = last_;
}

}  // namespace perdure::plan
