#pragma once
// The one way in which tests wait for something that others do; tools/check_waits refuses other ways. It needs no
// library, so that a process that a test has forked can wait, too.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace perdure::test_support {

/// How long a test waits for anything: far beyond what a loaded machine or a sanitizer needs, and less than the 120 s
/// of a test, so that a failure says what did not come.
inline constexpr std::chrono::seconds kEventually{100};

/// eventually() with another limit, for its own test.
template <class Condition>
[[nodiscard]] bool comes_within(std::chrono::nanoseconds limit, const std::string& what, Condition&& condition,
                                const char* file, int line) {
  using Clock = std::chrono::steady_clock;  // not os::monotonic_ns(): tests shift that one
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
    // Whoever is ended from outside, as a rank is, has said by then what it waits for.
    if (!said && now - begin >= limit / 3) say("still waits for: ", now - begin), said = true;
    // A look that is dear is taken less often: others want the processor.
    const auto pause =
        std::clamp<nanoseconds>(10 * (now - looks), std::chrono::microseconds(200), std::chrono::milliseconds(20));
    std::this_thread::sleep_for(pause);
  }
}

/// Whether `condition` comes true before kEventually is over. If it does not, standard error says where and what did
/// not come; `what` is a sentence about it, such as "the second flush begins". In a test: ASSERT_TRUE(eventually(...)).
template <class Condition>
[[nodiscard]] bool eventually(const std::string& what, Condition&& condition,  // clang 14 has no std::source_location
                              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return comes_within(kEventually, what, condition, file, line);
}

}  // namespace perdure::test_support
