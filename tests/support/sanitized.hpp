#pragma once
// Sanitizers make every step 3 to 20 times slower; what they look for is in each step, not in how many there are. Loops
// over many cases take fewer of them there; the release suite takes all.
namespace perdure::test_support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// `all`, and under a sanitizer `some`.
template <typename T>
constexpr T unless_sanitized(T all, T some) {
  return kSanitized ? some : all;
}

}  // namespace perdure::test_support
