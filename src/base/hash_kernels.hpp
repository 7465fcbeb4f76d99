#pragma once
// The inner loops of hash.cpp, compiled once for the baseline and once for AVX2. Plain C types only: hash_avx2.cpp
// is compiled with other machine flags, and an inline function from a C++ header would leak from there into the
// program.
#include <cstddef>

namespace perdure::base::kernels {

/// Feeds bytes to an XXH3 state (XXH3_state_t; its layout does not depend on the machine flags).
using Update = void (*)(void* state, const void* data, std::size_t bytes);
/// Copies past the caches to `target`, and the very same to `kept`: each byte of the source is read once. Both are
/// aligned to 64 bytes, `bytes` is a multiple of 64. `source` may be `kept` itself. The caller fences.
using StreamAndKeep = void (*)(void* target, void* kept, const void* source, std::size_t bytes);

/// The same of kSideBySide pages, which lie one after the other, a few lines of each in turn. Processors that look
/// ahead within a page only wait at the beginning of each, and here for all of them at once.
using StreamSideBySide = void (*)(void* target, void* kept, const void* source);
inline constexpr std::size_t kPage = 4096, kSideBySide = 4;

struct Set {
  Update update;
  StreamAndKeep stream_and_keep;
  StreamSideBySide stream_side_by_side;  ///< null: this processor copies no faster so
};
Set baseline();  ///< what every processor of this architecture runs
Set widest();    ///< all that this processor can run
Set best();      ///< what it runs fastest

void update_avx2(void* state, const void* data, std::size_t bytes);
void stream_and_keep_avx2(void* target, void* kept, const void* source, std::size_t bytes);
void stream_side_by_side_avx2(void* target, void* kept, const void* source);

}  // namespace perdure::base::kernels
