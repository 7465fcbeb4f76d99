#pragma once
// 128-bit xxHash (XXH3) of everything Perdure stores, and the copy that hashes in the same pass.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.hpp"

namespace perdure::base {
namespace kernels {
struct Set;
}

/// XXH3 128-bit, seed 0. `low` and `high` as xxHash names them; bytes() is its canonical (big-endian) form.
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

/// A running hash over data that arrives in pieces. Not copyable; one thread at a time.
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

/// From so many bytes on a copy passes the caches by; fewer are wanted there.
inline constexpr std::size_t kStreamFrom = 256 * KiB;

/// Copies `bytes` bytes from `source` to `target` (not overlapping) and feeds to `hasher` what the target gets: the
/// source is read once, whoever writes to it meanwhile. From `stream_from` bytes on it leaves the target out of the
/// caches where the processor can.
void copy_and_hash(std::byte* target, const std::byte* source, std::size_t bytes, Hasher& hasher,
                   std::size_t stream_from = kStreamFrom);

/// Copies whole memory that is in the caches to where it is not wanted there (not overlapping).
void copy_past_caches(std::byte* target, const std::byte* source, std::size_t bytes);

/// copy_and_hash() of what comes in pieces: the target is written as if they were one. Pieces of any size, the target
/// past the caches. Nobody else sees all of it before finish().
class StreamedCopy {
 public:
  StreamedCopy(std::byte* target, Hasher& hasher);
  StreamedCopy(std::byte* target, Hasher& hasher, const kernels::Set& by);
  void append(ConstByteSpan data);
  void finish();

 private:
  static constexpr std::size_t kLine = 64;
  // Streamed to the target and kept beside it, where it is hashed: the source is read once, so that what is hashed is
  // what the target gets, whoever writes to the source meanwhile. Stays in the first-level cache.
  static constexpr std::size_t kKept = 16 * KiB;
  void stream(const std::byte* source, std::size_t bytes, ConstByteSpan next);  // `next`: what comes then
  void hash_and_fetch(ConstByteSpan next);

  std::byte* target_;  // of what comes next
  Hasher& hasher_;
  const kernels::Set& by_;
  const std::size_t block_;  // so much of it is used
  std::size_t head_;         // up to the next cache line of the target
  std::size_t waits_ = 0;    // in kept_, and not at the target yet
  alignas(kLine) std::byte kept_[kKept];
};

/// The reference for copy_and_hash: memcpy, then hash of the target. Tested equal; measured by bench/.
void copy_then_hash(std::byte* target, const std::byte* source, std::size_t bytes, Hasher& hasher);

}  // namespace perdure::base
