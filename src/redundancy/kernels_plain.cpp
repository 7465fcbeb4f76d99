#include <cstring>

#include "redundancy/kernels.hpp"

namespace perdure::redundancy {
namespace {

// Tabulates products with the low and with the high half of a byte: 16 + 16 entries per coefficient.
void prepare_plain(unsigned columns, unsigned rows, const Symbol* coefficients, Symbol* tables) {
  for (std::size_t i = 0; i < std::size_t{columns} * rows; ++i, tables += kTableBytes)
    for (unsigned half = 0; half < 16; ++half) {
      tables[half] = multiply(coefficients[i], static_cast<Symbol>(half));
      tables[16 + half] = multiply(coefficients[i], static_cast<Symbol>(half << 4U));
    }
}

void add_row(std::size_t bytes, const Symbol* table, const std::byte* source, std::byte* target) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto value = std::to_integer<unsigned>(source[i]);
    target[i] ^= std::byte(table[value & 15U] ^ table[16 + (value >> 4U)]);
  }
}

void add_plain(std::size_t bytes, unsigned rows, const Symbol* tables, const std::byte* source,
               std::byte* const* targets) {
  for (unsigned row = 0; row < rows; ++row) add_row(bytes, tables + row * kTableBytes, source, targets[row]);
}

void combine_plain(std::size_t bytes, unsigned columns, unsigned rows, const Symbol* tables,
                   const std::byte* const* sources, std::byte* const* targets) {
  for (unsigned row = 0; row < rows; ++row) {
    std::memset(targets[row], 0, bytes);
    for (unsigned column = 0; column < columns; ++column, tables += kTableBytes)
      add_row(bytes, tables, sources[column], targets[row]);
  }
}

// Copies 16 bytes at any address: compilers disagree on how to declare an unaligned vector type.
using Vector [[gnu::vector_size(16)]] = std::uint64_t;

Vector load(const std::byte* address) {
  Vector vector;
  std::memcpy(&vector, address, sizeof vector);
  return vector;
}

void store(const Vector& vector, std::byte* address) { std::memcpy(address, &vector, sizeof vector); }

}  // namespace

const Kernels& plain_kernels() {
  static constexpr Kernels kPlain{"plain", prepare_plain, combine_plain, add_plain};
  return kPlain;
}

void exclusive_or(std::byte* target, std::span<const std::byte* const> sources, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    const std::byte* first = sources[0] + at;
    Vector a = load(first), b = load(first + 16), c = load(first + 32), d = load(first + 48);
    for (std::size_t i = 1; i < sources.size(); ++i) {
      const std::byte* source = sources[i] + at;
      a ^= load(source), b ^= load(source + 16), c ^= load(source + 32), d ^= load(source + 48);
    }
    std::byte* out = target + at;
    store(a, out), store(b, out + 16), store(c, out + 32), store(d, out + 48);
  }
  for (; at < bytes; ++at) {
    std::byte sum = sources[0][at];
    for (std::size_t i = 1; i < sources.size(); ++i) sum ^= sources[i][at];
    target[at] = sum;
  }
}

void exclusive_or_into(std::byte* target, const std::byte* source, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64)
    for (std::size_t i = at; i < at + 64; i += 16) store(load(target + i) ^ load(source + i), target + i);
  for (; at < bytes; ++at) target[at] ^= source[at];
}

}  // namespace perdure::redundancy
