#pragma once
// Declares the inner loops of parities. ISA-L has the fast ones. Debian has it only as a shared library, which no
// application must be made to load. So the first code that needs it loads it at run time. The plain ones are the
// reference, and replace ISA-L where it is missing: data is then rebuilt slowly.
#include <cstddef>
#include <span>

#include "base/result.hpp"
#include "redundancy/field.hpp"

namespace perdure::redundancy {

inline constexpr std::size_t kTableBytes = 32;  ///< per coefficient; its content depends on the kernels

/// Compute sums of products over GF(256). Matrices are row by row, `columns` = sources, `rows` = targets. No buffer
/// needs to be aligned; targets overlap nothing. `bytes` is below 2 GiB.
struct Kernels {
  const char* name;
  /// Fills rows * columns * kTableBytes bytes, for the two functions below.
  void (*prepare)(unsigned columns, unsigned rows, const Symbol* coefficients, Symbol* tables);
  /// Computes targets[r] = the sum of coefficient[r][c] * sources[c].
  void (*combine)(std::size_t bytes, unsigned columns, unsigned rows, const Symbol* tables,
                  const std::byte* const* sources, std::byte* const* targets);
  /// Computes targets[r] += coefficient[r] * source, for a matrix of one column.
  void (*add)(std::size_t bytes, unsigned rows, const Symbol* tables, const std::byte* source,
              std::byte* const* targets);
};

const Kernels& plain_kernels();
/// Fails with PERDURE_UNSUPPORTED if libisal.so.2 cannot be loaded. Loads it once; it stays.
base::Result<const Kernels*> isal_kernels();
const Kernels& fastest_kernels();

/// Computes target = the exclusive or of all sources (at least one). It is as fast as memory without vector
/// annotations, and has no alignment rules. Measured equal to ISA-L's xor_gen, which needs both.
void exclusive_or(std::byte* target, std::span<const std::byte* const> sources, std::size_t bytes);
/// Computes target ^= source.
void exclusive_or_into(std::byte* target, const std::byte* source, std::size_t bytes);

}  // namespace perdure::redundancy
