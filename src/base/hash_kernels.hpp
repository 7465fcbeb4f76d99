#pragma once
// Declares the inner loops of hash.cpp, which are compiled once for the baseline and once for AVX2. It uses plain C
// types only. hash_avx2.cpp has other machine flags, and an inline function of a C++ header would leak from there into
// the program.
#include <cstddef>

namespace perdure::base::kernels {

/// Feeds bytes to an XXH3 state. XXH3_state_t has the same layout under all machine flags.
using Update = void (*)(void* state, const void* data, std::size_t bytes);
/// Copies the same bytes to `target`, past the caches, and to `kept`; reads each source byte once. Both targets are
/// aligned to 64 bytes, and `bytes` is a multiple of 64. `source` may be `kept` itself. The caller fences.
using StreamAndKeep = void (*)(void* target, void* kept, const void* source, std::size_t bytes);

/// Does the same for kSideBySide consecutive pages, a few lines of each in turn. Processors that prefetch within a page
/// only wait at the beginning of each page. Here these waits overlap.
using StreamSideBySide = void (*)(void* target, void* kept, const void* source);
inline constexpr std::size_t kPage = 4096, kSideBySide = 4;

struct Set {
  Update update;
  StreamAndKeep stream_and_keep;
  StreamSideBySide stream_side_by_side;  ///< null if this processor copies no faster this way
};
Set baseline();  ///< every processor of this architecture can run it
Set widest();    ///< the widest kernels that this processor can run
Set best();      ///< the fastest kernels on this processor

void update_avx2(void* state, const void* data, std::size_t bytes);
void stream_and_keep_avx2(void* target, void* kept, const void* source, std::size_t bytes);
void stream_side_by_side_avx2(void* target, void* kept, const void* source);

}  // namespace perdure::base::kernels
