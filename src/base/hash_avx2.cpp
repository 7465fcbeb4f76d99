// Compiled with -mavx2 on x86-64 (cmake/modules.cmake), and called only if the processor has AVX2. All definitions of
// xxHash are static here (XXH_INLINE_ALL), and no C++ library header with inline functions is included:
// hash_kernels.hpp says why.
#if defined(__AVX2__)
#define XXH_INLINE_ALL
#define XXH_VECTOR 2  // XXH_AVX2
#include <immintrin.h>
#include <xxhash.h>

#include "base/hash_kernels.hpp"

namespace perdure::base::kernels {

void update_avx2(void* state, const void* data, std::size_t bytes) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state), data, bytes);
}

static inline void stream_line(char* target, char* kept, const char* source) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + 32));
  _mm256_store_si256(reinterpret_cast<__m256i*>(kept), a);
  _mm256_store_si256(reinterpret_cast<__m256i*>(kept + 32), b);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(target), a);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(target + 32), b);
}

void stream_and_keep_avx2(void* target, void* kept, const void* source, std::size_t bytes) {
  auto* to = static_cast<char*>(target);
  auto* keep = static_cast<char*>(kept);
  const auto* from = static_cast<const char*>(source);
  for (std::size_t at = 0; at < bytes; at += 64) stream_line(to + at, keep + at, from + at);
}

void stream_side_by_side_avx2(void* target, void* kept, const void* source) {
  auto* to = static_cast<char*>(target);
  auto* keep = static_cast<char*>(kept);
  const auto* from = static_cast<const char*>(source);
  for (std::size_t two_lines = 0; two_lines < kPage; two_lines += 128)
    for (std::size_t at = two_lines; at < kSideBySide * kPage; at += kPage) {
      stream_line(to + at, keep + at, from + at);
      stream_line(to + at + 64, keep + at + 64, from + at + 64);
    }
}

}  // namespace perdure::base::kernels
#endif
