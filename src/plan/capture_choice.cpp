#include "plan/capture_choice.hpp"

#include <algorithm>

namespace perdure::plan {
namespace {

// Blocks that were copied because a thread waited count, in runs that grow with the waits: where half of them were, the
// waits took about as long as the copy of all. As long as the others are copied beside the program, it gains where it
// waits for less than half of them; where the copier takes the program's own processor, for less than a quarter.
bool pays(const CaptureMet& met) { return met.waited_for * (met.idle_processor ? 2 : 4) < met.blocks; }

}  // namespace

bool CaptureChoice::next() {
  if (pause_ == 0) return true;
  --pause_;
  return false;
}

// A program changes: it is tried again, the later the more often it did not pay.
void CaptureChoice::met(const CaptureMet& met) {
  if (met.blocks == 0) return;
  last_ = pays(met) ? 0 : std::clamp(2 * last_, 4U, kMostPause);
  pause_ = last_;
}

}  // namespace perdure::plan
