#pragma once
// Hashes everything that Perdure stores with 128-bit xxHash (XXH3), and copies and hashes in one pass.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.hpp"

namespace perdure::base {
namespace kernels {
struct Set;
}

/// XXH3 128-bit, seed 0. xxHash names the halves `low` and `high`; bytes() is its canonical (big-endian) form.
struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  std::string hex() const;  ///< 32 hexadecimal digits, canonical order
  std::array<std::byte, 16> bytes() const;
  static Hash128 from_bytes(const std::array<std::byte, 16>& canonical);
};

Hash128 hash128(ConstByteSpan data);
std::uint64_t hash64(ConstByteSpan data);  ///< XXH3 64-bit, seed 0

/// A running hash over data that arrives in pieces. It is not copyable, and one thread uses it at a time.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void reset();
  void update(ConstByteSpan data);
  Hash128 digest() const;

 private:
  friend class StreamedCopy;
  void* state_;
};

/// Copies of at least so many bytes bypass the caches; smaller ones are wanted in the caches.
inline constexpr std::size_t kStreamFrom = 256 * KiB;

/// Copies `bytes` bytes from `source` to `target`, which must not overlap, and feeds the copy to `hasher`. It reads the
/// source once: concurrent writes to the source cannot make hash and target differ. From `stream_from` bytes on it
/// leaves the target out of the caches, if the processor can.
void copy_and_hash(std::byte* target, const std::byte* source, std::size_t bytes, Hasher& hasher,
                   std::size_t stream_from = kStreamFrom);

/// Copies memory that is in the caches, and keeps the target out of them. The two must not overlap.
void copy_past_caches(std::byte* target, const std::byte* source, std::size_t bytes);

/// Does copy_and_hash() for pieces of any size, which become one contiguous target. The target bypasses the caches.
/// Other threads may not see all of the target before finish().
class StreamedCopy {
 public:
  StreamedCopy(std::byte* target, Hasher& hasher);
  StreamedCopy(std::byte* target, Hasher& hasher, const kernels::Set& by);
  void append(ConstByteSpan data);
  void finish();

 private:
  static constexpr std::size_t kLine = 64;
  // The source is streamed to the target and to this buffer, whose bytes are hashed. So the source is read once, and
  // the hash is that of the target, even if others write to the source. The buffer stays in the first-level cache.
  static constexpr std::size_t kKept = 16 * KiB;
  void stream(const std::byte* source, std::size_t bytes, ConstByteSpan next);  // `next`: the input that follows
  void hash_and_fetch(ConstByteSpan next);

  std::byte* target_;  // of the next bytes
  Hasher& hasher_;
  const kernels::Set& by_;
  const std::size_t block_;  // bytes of it in use
  std::size_t head_;         // bytes up to the target's next cache line
  std::size_t waits_ = 0;    // bytes in kept_ that are not at the target yet
  alignas(kLine) std::byte kept_[kKept];
};

/// The reference for copy_and_hash: memcpy, then hash of the target. Tests compare the two; bench/ measures them.
void copy_then_hash(std::byte* target, const std::byte* source, std::size_t bytes, Hasher& hasher);

}  // namespace perdure::base
