#pragma once
// Sanitizers make every step 3 to 20 times slower; what they look for is in each step, not in how many there are. Loops
// over many cases take fewer of them there; the release suite takes all.

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

namespace perdure::test_support {

inline constexpr bool kSanitized = PERDURE_ADDRESS_SANITIZER || PERDURE_THREAD_SANITIZER;

/// `all`, and under a sanitizer `some`.
template <typename T>
constexpr T unless_sanitized(T all, T some) {
  return kSanitized ? some : all;
}

}  // namespace perdure::test_support
