#pragma once
// Says whether a sanitizer runs. Sanitizers make every step 3 to 20 times slower, and their findings do not need many
// repetitions. So loops over many cases take fewer cases under them. The plain build runs each file that includes this
// header completely (perdure_at_length).

// GCC defines a macro for each sanitizer, clang has features.
#if !defined(__has_feature)
#define PERDURE_HAS_FEATURE(name) 0
#else
#define PERDURE_HAS_FEATURE(name) __has_feature(name)
#endif
#if defined(__SANITIZE_ADDRESS__) || PERDURE_HAS_FEATURE(address_sanitizer)
#define PERDURE_ADDRESS_SANITIZER 1
#else
#define PERDURE_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__) || PERDURE_HAS_FEATURE(thread_sanitizer)
#define PERDURE_THREAD_SANITIZER 1
#else
#define PERDURE_THREAD_SANITIZER 0
#endif

#include <cstdlib>

namespace perdure::test_support {

inline constexpr bool kSanitized = PERDURE_ADDRESS_SANITIZER || PERDURE_THREAD_SANITIZER;

/// Returns `all`, and under a sanitizer `some`.
template <typename T>
constexpr T unless_sanitized(T all, T some) {
  return kSanitized ? some : all;
}

/// Whether a campaign runs (tools/campaign), which takes more of everything.
inline bool campaign() { return std::getenv("PERDURE_TEST_CAMPAIGN") != nullptr; }

/// Whether a case runs only in the plain build: under a sanitizer it takes ten times as long, and covers no more than
/// smaller cases. A campaign runs it there, too. `if (left_to_plain()) GTEST_SKIP() << kLeftToPlain;`
inline bool left_to_plain() { return kSanitized && !campaign(); }
inline constexpr const char* kLeftToPlain = "the plain build runs it";

}  // namespace perdure::test_support
