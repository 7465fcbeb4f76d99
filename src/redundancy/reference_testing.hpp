#pragma once
// Implements the code again for tests, slowly, from the definition of the field. It shares no line with the real one.
#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace perdure::redundancy::reference {

using Bytes = std::vector<std::byte>;

inline unsigned product(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (; b != 0; b >>= 1U) {
    if ((b & 1U) != 0) sum ^= a;
    a <<= 1U;
    if ((a & 0x100U) != 0) a ^= 0x11dU;
  }
  return sum;
}

inline unsigned quotient(unsigned a, unsigned b) {
  for (unsigned q = 0; q < 256; ++q)
    if (product(q, b) == a) return q;
  return 0;
}

inline unsigned coefficient(unsigned parity, unsigned data) { return quotient(8 + data, parity ^ (8 + data)); }

inline void add_product(Bytes& to, unsigned factor, const Bytes& data) {
  std::byte products[256];
  for (unsigned value = 0; value < 256; ++value) products[value] = std::byte(product(factor, value));
  for (std::size_t i = 0; i < data.size(); ++i) to[i] ^= products[std::to_integer<unsigned>(data[i])];
}

/// Returns the m parities, each as long as the longest data item.
inline std::vector<Bytes> encode(const std::vector<Bytes>& data, unsigned m) {
  std::size_t longest = 0;
  for (const Bytes& item : data) longest = std::max(longest, item.size());
  std::vector<Bytes> parities(m, Bytes(longest));
  for (unsigned p = 0; p < m; ++p)
    for (unsigned d = 0; d < data.size(); ++d) add_product(parities[p], coefficient(p, d), data[d]);
  return parities;
}

inline Bytes random_bytes(std::size_t count, std::mt19937_64& random) {
  Bytes bytes(count);
  for (std::byte& b : bytes) b = std::byte(random() & 0xffU);
  return bytes;
}

}  // namespace perdure::redundancy::reference
