#pragma once
// Detects that no event is pending, from the kernel's view of threads. A test that expects no event checks after that,
// instead of waiting a while, which a busy machine may spend elsewhere.
#include <unistd.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "eventually.hpp"
#include "sanitized.hpp"
#include "wake_ups.hpp"

namespace perdure::test_support {

/// The thread sanitizer's own thread looks at the clock all the time.
inline bool sleeps_for(int thread, std::chrono::milliseconds least) {
  return PERDURE_THREAD_SANITIZER || least == least.zero() || longest_sleep(thread) >= least;
}

/// Returns how often each other thread of this process, except `others`, has left a processor. Returns nothing if one
/// is awake, or wakes up by itself before `least` is over.
inline std::optional<std::map<int, std::string>> asleep(const std::set<int>& others, std::chrono::milliseconds least) {
  std::map<int, std::string> left;
  for (const int thread : threads()) {
    if (thread == ::gettid() || others.contains(thread)) continue;
    const auto status = thread_status(thread);
    if (status.empty()) continue;  // it has ended
    if (!status_line(status, "State").starts_with("S") || !sleeps_for(thread, least)) return std::nullopt;
    left[thread] =
        status_line(status, "voluntary_ctxt_switches") + " " + status_line(status, "nonvoluntary_ctxt_switches");
  }
  return left;
}

/// Waits until every other thread of this process, except `others`, sleeps, all at the same moment. Their pending work
/// is then done, because a thread with work, or one that was woken, does not sleep. They may only continue after a
/// time-out, none before `least` is over, or through an event from outside. Test threads that wait by eventually()
/// belong to `others`.
[[nodiscard]] inline bool quiescent(const std::set<int>& others = {}, std::chrono::milliseconds least = {},
                                    const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return eventually(
      "every other thread sleeps",
      [&] {
        const auto first = asleep(others, least);
        // No thread left a processor between the first look at the last thread and the second at the first thread. So
        // all slept in between. The third look covers a thread that was about to sleep at the second, and already
        // seemed to sleep.
        return first && asleep(others, least) == first && asleep(others, least) == first;
      },
      file, line);
}

}  // namespace perdure::test_support
