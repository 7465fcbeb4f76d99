#pragma once
// 128-bit xxHash (XXH3) of everything Perdure stores, and the copy that hashes in the same pass.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.hpp"

namespace perdure::base {

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
  friend void copy_and_hash(std::byte*, const std::byte*, std::size_t, Hasher&);
  void* state_;
};

/// Copies `bytes` bytes from `source` to `target` (not overlapping) and feeds to `hasher` what the target gets: the
/// source is read once, whoever writes to it meanwhile. Leaves the target out of the caches where the processor can.
void copy_and_hash(std::byte* target, const std::byte* source, std::size_t bytes, Hasher& hasher);

/// The reference for copy_and_hash: memcpy, then hash of the target. Tested equal; measured by bench/.
void copy_then_hash(std::byte* target, const std::byte* source, std::size_t bytes, Hasher& hasher);

}  // namespace perdure::base
