#pragma once
// That nothing is about to happen, as the kernel sees it: a test that expects something not to happen looks after that,
// and not after a while that a busy machine spends elsewhere.
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

/// How often each other thread of this process, but for `others`, has left a processor; nothing when one is awake, or
/// goes on by itself before `least` is over.
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

/// Waits until every other thread of this process, but for `others`, sleeps, all of them at the same moment. What they
/// were to do is done then: whoever has something to do, or was woken, is no sleeper. They may only go on when time
/// passes, none of them before `least` is over, or when somebody outside does something. Test threads that wait by
/// eventually() belong to `others`.
[[nodiscard]] inline bool quiescent(const std::set<int>& others = {}, std::chrono::milliseconds least = {},
                                    const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return eventually(
      "every other thread sleeps",
      [&] {
        const auto first = asleep(others, least);
        // Nobody has left a processor from the first look at the last thread until the second at the first one: between
        // them all slept. The third is for who was about to sleep at the second, and seemed to sleep already.
        return first && asleep(others, least) == first && asleep(others, least) == first;
      },
      file, line);
}

}  // namespace perdure::test_support
