#pragma once
// Provides the only way in which tests wait for events of others; tools/check_waits refuses other ways. It needs no
// library, so that a forked process of a test can wait, too.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace perdure::test_support {

/// The time limit of waits: far beyond the need of a loaded machine or a sanitizer. It is below a test's limit of 120
/// s, so that a failure names the missing event.
inline constexpr std::chrono::seconds kEventually{100};

/// Does the same as eventually() with another limit, for its own test.
template <class Condition>
[[nodiscard]] bool comes_within(std::chrono::nanoseconds limit, const std::string& what, Condition&& condition,
                                const char* file, int line) {
  using Clock = std::chrono::steady_clock;  // not os::monotonic_ns(): tests shift that clock
  using std::chrono::duration_cast, std::chrono::seconds, std::chrono::nanoseconds;
  const auto say = [&](const char* how, Clock::duration time) {
    std::fprintf(stderr, "%s:%d: %s%s (%lld s)\n", file, line, how, what.c_str(),
                 static_cast<long long>(duration_cast<seconds>(time).count()));
  };
  const auto begin = Clock::now();
  bool said = false;
  for (;;) {
    const auto looks = Clock::now();
    if (condition()) return true;
    const auto now = Clock::now();
    if (now - begin >= limit) return say("this did not come: ", now - begin), false;
    // Reports the wait in time for a process that is ended from outside, as ranks are.
    if (!said && now - begin >= limit / 3) say("still waits for: ", now - begin), said = true;
    // Repeats an expensive check less often, because others need the processor.
    const auto pause =
        std::clamp<nanoseconds>(10 * (now - looks), std::chrono::microseconds(200), std::chrono::milliseconds(20));
    std::this_thread::sleep_for(pause);
  }
}

/// Returns whether `condition` becomes true within kEventually. If not, it prints the place and the missing event to
/// standard error. `what` is a sentence about the event, such as "the second flush begins". In a test:
/// ASSERT_TRUE(eventually(...)).
template <class Condition>
[[nodiscard]] bool eventually(const std::string& what, Condition&& condition,  // clang 14 has no std::source_location
                              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return comes_within(kEventually, what, condition, file, line);
}

}  // namespace perdure::test_support
