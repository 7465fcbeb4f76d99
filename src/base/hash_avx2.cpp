// Compiled with -mavx2 on x86-64 (cmake/modules.cmake); called only where the processor has it. Everything xxHash
// defines here is static (XXH_INLINE_ALL), and no C++ library header with inline functions is used: see
// hash_kernels.hpp.
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

void stream_and_keep_avx2(void* target, void* kept, const void* source, std::size_t bytes) {
  auto* to = static_cast<__m256i*>(target);
  auto* keep = static_cast<__m256i*>(kept);
  const auto* from = static_cast<const __m256i*>(source);
  for (std::size_t lines = bytes / 64; lines > 0; --lines, to += 2, keep += 2, from += 2) {
    const __m256i a = _mm256_loadu_si256(from);
    const __m256i b = _mm256_loadu_si256(from + 1);
    _mm256_store_si256(keep, a);
    _mm256_store_si256(keep + 1, b);
    _mm256_stream_si256(to, a);
    _mm256_stream_si256(to + 1, b);
  }
}

}  // namespace perdure::base::kernels
#endif
