#pragma once
// Sanitizers make every step 3 to 20 times slower; what they look for is in each step, not in how many there are. Loops
// over many cases take fewer of them there. The plain build runs each file that includes this, whole
// (perdure_at_length).

// GCC defines a macro for each, clang has features.
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

/// `all`, and under a sanitizer `some`.
template <typename T>
constexpr T unless_sanitized(T all, T some) {
  return kSanitized ? some : all;
}

/// Whether a campaign runs (tools/campaign), which takes more of everything.
inline bool campaign() { return std::getenv("PERDURE_TEST_CAMPAIGN") != nullptr; }

/// Whether a case is left to the plain build: beside a sanitizer it takes ten times as long, and does nothing that
/// smaller cases do not do. A campaign runs it there, too. `if (left_to_plain()) GTEST_SKIP() << kLeftToPlain;`
inline bool left_to_plain() { return kSanitized && !campaign(); }
inline constexpr const char* kLeftToPlain = "the plain build runs it";

}  // namespace perdure::test_support
