#include "base/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <new>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/hash_kernels.hpp"

namespace perdure::base {
namespace {

constexpr std::size_t kBlock = 64 * KiB;  // fits the second-level cache beside everything else
constexpr std::align_val_t kStateAlignment{alignof(XXH3_state_t)};

XXH3_state_t* state_of(void* state) { return static_cast<XXH3_state_t*>(state); }

void update_baseline(void* state, const void* data, std::size_t bytes) {
  XXH3_128bits_update(state_of(state), data, bytes);
}

#if defined(__x86_64__)
void stream_and_keep_baseline(void* target, void* kept, const void* source, std::size_t bytes) {
  auto* to = static_cast<__m128i*>(target);
  auto* keep = static_cast<__m128i*>(kept);
  const auto* from = static_cast<const __m128i*>(source);
  for (std::size_t lines = bytes / 64; lines > 0; --lines, to += 4, keep += 4, from += 4) {
    const __m128i a = _mm_loadu_si128(from);
    const __m128i b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2);
    const __m128i d = _mm_loadu_si128(from + 3);
    _mm_store_si128(keep, a);
    _mm_store_si128(keep + 1, b);
    _mm_store_si128(keep + 2, c);
    _mm_store_si128(keep + 3, d);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
}
void fence() { _mm_sfence(); }
#else
void stream_and_keep_baseline(void* target, void* kept, const void* source, std::size_t bytes) {
  if (kept != source) std::memcpy(kept, source, bytes);
  __asm__ volatile("" : : "r"(kept) : "memory");  // else a compiler may read the source twice
  std::memcpy(target, kept, bytes);
}
void fence() {}
#endif

// Copying waits for memory, and hashing does not. So before it hashes a page, the loop prefetches so many bytes of each
// page that is copied next, side by side. They go to the second-level cache: the first level cannot hold so many lines.
// Measured against 64, 192 and 256 bytes, and against prefetching all before the first page.
constexpr std::size_t kFetchedOfPage = 128;
constexpr int kSecondLevel = 2;

const kernels::Set& chosen_kernels() {
  static const kernels::Set chosen = kernels::best();
  return chosen;
}

}  // namespace

kernels::Set kernels::baseline() { return {update_baseline, stream_and_keep_baseline, nullptr}; }

kernels::Set kernels::widest() {
#if defined(PERDURE_HAVE_AVX2_KERNELS)
  if (__builtin_cpu_supports("avx2")) return {update_avx2, stream_and_keep_avx2, stream_side_by_side_avx2};
#endif
  return baseline();
}

// Measured for a checkpoint's call: page after page took 0.9 of a memcpy on an EPYC (AMD), and 1.6 on a Xeon.
// The Xeon is faster side by side.
kernels::Set kernels::best() {
  Set set = widest();
#if defined(__x86_64__)
  if (!__builtin_cpu_is("intel")) set.stream_side_by_side = nullptr;
#endif
  return set;
}

std::array<std::byte, 16> Hash128::bytes() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH128_hash_t{low, high});
  std::array<std::byte, 16> out{};
  std::memcpy(out.data(), canonical.digest, out.size());
  return out;
}

Hash128 Hash128::from_bytes(const std::array<std::byte, 16>& canonical) {
  XXH128_canonical_t raw;
  std::memcpy(raw.digest, canonical.data(), canonical.size());
  const XXH128_hash_t hash = XXH128_hashFromCanonical(&raw);
  return {hash.low64, hash.high64};
}

std::string Hash128::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::byte b : bytes()) {
    text += kDigits[std::to_integer<unsigned>(b >> 4)];
    text += kDigits[std::to_integer<unsigned>(b & std::byte{15})];
  }
  return text;
}

Hash128 hash128(ConstByteSpan data) {
  if (data.size() > kBlock) {  // only the running hash uses the wide kernel
    Hasher hasher;
    hasher.update(data);
    return hasher.digest();
  }
  const XXH128_hash_t hash = XXH3_128bits(data.data(), data.size());
  return {hash.low64, hash.high64};
}

std::uint64_t hash64(ConstByteSpan data) { return XXH3_64bits(data.data(), data.size()); }

Hasher::Hasher() : state_(::operator new(sizeof(XXH3_state_t), kStateAlignment)) {
  std::memset(state_, 0, sizeof(XXH3_state_t));
  reset();
}
Hasher::~Hasher() { ::operator delete(state_, kStateAlignment); }
void Hasher::reset() { XXH3_128bits_reset(state_of(state_)); }
void Hasher::update(ConstByteSpan data) {
  if (!data.empty()) chosen_kernels().update(state_, data.data(), data.size());
}
Hash128 Hasher::digest() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_of(state_));
  return {hash.low64, hash.high64};
}

void copy_and_hash(std::byte* target, const std::byte* source, std::size_t bytes, Hasher& hasher,
                   std::size_t stream_from) {
  if (bytes < stream_from) return copy_then_hash(target, source, bytes, hasher);
  StreamedCopy copy(target, hasher);
  copy.append({source, bytes});
  copy.finish();
}

void copy_past_caches(std::byte* target, const std::byte* source, std::size_t bytes) {
  constexpr std::size_t kLine = 64, kPiece = 4 * KiB;
  alignas(kLine) std::byte kept[kPiece];
  const std::size_t head = std::min((kLine - reinterpret_cast<std::uintptr_t>(target) % kLine) % kLine, bytes);
  std::memcpy(target, source, head);
  std::size_t at = head;
  for (const std::size_t end = head + (bytes - head) / kLine * kLine; at < end;) {
    const std::size_t piece = std::min(kPiece, end - at);
    chosen_kernels().stream_and_keep(target + at, kept, source + at, piece);
    at += piece;
  }
  std::memcpy(target + at, source + at, bytes - at);
  fence();
}

// Streams whole cache lines only: memory is written twice for a line that is partly streamed.
StreamedCopy::StreamedCopy(std::byte* target, Hasher& hasher) : StreamedCopy(target, hasher, chosen_kernels()) {}

StreamedCopy::StreamedCopy(std::byte* target, Hasher& hasher, const kernels::Set& by)
    : target_(target),
      hasher_(hasher),
      by_(by),
      block_(by.stream_side_by_side != nullptr ? kKept : kernels::kPage),
      head_((kLine - reinterpret_cast<std::uintptr_t>(target) % kLine) % kLine) {}

void StreamedCopy::stream(const std::byte* source, std::size_t bytes, ConstByteSpan next) {
  if (bytes == kKept) {
    by_.stream_side_by_side(target_, kept_, source);
    hash_and_fetch(next);
  } else {
    by_.stream_and_keep(target_, kept_, source, bytes);
    by_.update(hasher_.state_, kept_, bytes);
  }
  target_ += bytes;
}

// The prefetches are not in a function of their own: GCC takes such a function for one without an effect, and drops its
// calls.
void StreamedCopy::hash_and_fetch(ConstByteSpan next) {
  for (std::size_t page = 0; page < kernels::kSideBySide; ++page) {
    for (std::size_t of = 0; of < kKept; of += kernels::kPage)
      for (std::size_t line = 0; line < kFetchedOfPage; line += kLine) {
        const std::size_t at = of + page * kFetchedOfPage + line;
        if (at < next.size()) __builtin_prefetch(next.data() + at, 0, kSecondLevel);
      }
    by_.update(hasher_.state_, kept_ + page * kernels::kPage, kernels::kPage);
  }
}

void StreamedCopy::append(ConstByteSpan data) {
  if (head_ > 0) {
    const std::size_t head = std::min(head_, data.size());
    copy_then_hash(target_, data.data(), head, hasher_);
    target_ += head;
    head_ -= head;
    data = data.subspan(head);
  }
  while (!data.empty()) {
    if (waits_ == 0 && data.size() >= kLine) {
      const std::size_t block = std::min(block_, data.size() / kLine * kLine);
      stream(data.data(), block, data.subspan(block));
      data = data.subspan(block);
      continue;
    }
    const std::size_t more = std::min(block_ - waits_, data.size());
    std::memcpy(kept_ + waits_, data.data(), more);
    waits_ += more;
    data = data.subspan(more);
    if (waits_ == block_) {
      stream(kept_, block_, data);
      waits_ = 0;
    }
  }
}

void StreamedCopy::finish() {
  copy_then_hash(target_, kept_, waits_, hasher_);
  target_ += waits_;
  waits_ = 0;
  fence();
}

void copy_then_hash(std::byte* target, const std::byte* source, std::size_t bytes, Hasher& hasher) {
  if (bytes == 0) return;
  std::memcpy(target, source, bytes);
  hasher.update({target, bytes});
}

}  // namespace perdure::base
