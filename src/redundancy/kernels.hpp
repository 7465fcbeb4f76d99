#pragma once
// The inner loops of parities. ISA-L has the fast ones; Debian has it as a shared library only, which an application
// must not be made to load, so it is loaded at run time by the first code that needs it. The plain ones are the
// reference, and the replacement where ISA-L is missing: data is then rebuilt slowly.
#include <cstddef>
#include <span>

#include "base/result.hpp"
#include "redundancy/field.hpp"

namespace perdure::redundancy {

inline constexpr std::size_t kTableBytes = 32;  ///< per coefficient, whatever a set of kernels puts there

/// Sums of products over GF(256). Matrices are row by row, `columns` = sources, `rows` = targets. No buffer needs to be
/// aligned; targets overlap nothing. `bytes` is below 2 GiB.
struct Kernels {
  const char* name;
  /// Fills rows * columns * kTableBytes bytes, for the two below.
  void (*prepare)(unsigned columns, unsigned rows, const Symbol* coefficients, Symbol* tables);
  /// targets[r] = the sum of coefficient[r][c] * sources[c].
  void (*combine)(std::size_t bytes, unsigned columns, unsigned rows, const Symbol* tables,
                  const std::byte* const* sources, std::byte* const* targets);
  /// targets[r] += coefficient[r] * source, of a matrix of one column.
  void (*add)(std::size_t bytes, unsigned rows, const Symbol* tables, const std::byte* source,
              std::byte* const* targets);
};

const Kernels& plain_kernels();
/// Error: PERDURE_UNSUPPORTED when libisal.so.2 cannot be loaded. Loads it once; it stays.
base::Result<const Kernels*> isal_kernels();
const Kernels& fastest_kernels();

/// target = the exclusive or of all sources (at least one). As fast as memory is without being told about vectors, and
/// with no rule about alignment: measured equal to ISA-L's xor_gen, which wants both.
void exclusive_or(std::byte* target, std::span<const std::byte* const> sources, std::size_t bytes);
/// target ^= source.
void exclusive_or_into(std::byte* target, const std::byte* source, std::size_t bytes);

}  // namespace perdure::redundancy
